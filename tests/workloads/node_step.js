// SPDX-License-Identifier: GPL-2.0-or-later
//
// Launches from JavaScript: node_step.js ADDON STEPS [kill|large]
//   kill   ends by SIGKILL
//   large  compiles 20,000 functions more, whose names make a map of some megabytes
// Runs long enough for step() to be compiled, and compiled anew.
'use strict';

const { launch } = require(process.argv[2]);
const steps = Number(process.argv[3]);
const how = process.argv[4];

function matmul(n)
{
	launch(1);
	return n * 2;
}

function step(n)
{
	let sum = 0;

	for (let i = 0; i < 100; i++)
		sum += i ^ n;
	return sum + matmul(n);
}

function train()
{
	let sum = 0;

	for (let i = 0; i < steps; i++)
		sum += step(i);
	return sum;
}

train();
if (how === 'large')
	for (let i = 0; i < 20000; i++)
		new Function('x', `return function a_function_with_a_long_name_${i}() { return x + ${i}; }`)(i)();
console.log(`node ${process.pid}`);
if (how === 'kill')
	process.kill(process.pid, 'SIGKILL');
