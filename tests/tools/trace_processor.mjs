// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Open a trace in Perfetto's own trace processor, which is what ui.perfetto.dev has behind
 * it, and ask it by SQL.
 *
 * usage: node trace_processor.mjs FOLDER TRACE [NAME=SQL...]
 *
 * FOLDER is what tests/viewers/fetch.sh has made: the trace processor as WebAssembly
 * (trace_processor.wasm), the script of the UI's worker that runs it
 * (engine_bundle.node.js), and the UI's half of the protocol between them (engine.mjs).
 * Prints
 *
 *	stat NAME VALUE            what it found wrong with the trace, or lost of it
 *	NAME|COLUMN|COLUMN...      a row of an answer; NULL is empty
 *
 * and exits with 1 if it doesn't take the trace, or a query.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Else most of the time would go into making code fast that runs once.
setFlagsFromString('--liftoff-only');

// As much as its buffer takes at once
const CHUNK_BYTES = 32 * 1024 * 1024;

const ERRORS = `SELECT name || IFNULL('[' || idx || ']', '') AS name, value FROM stats
	WHERE value > 0 AND (severity IN ('error', 'data_loss') OR name GLOB '*skipped*')`;

// Of XMLHttpRequest, what the worker's script reads its WebAssembly with
class Request {
	constructor(folder) {
		this.folder = folder;
	}

	open(method, name) {
		this.name = name;
	}

	send() {
		const bytes = readFileSync(join(this.folder, this.name));

		this.response = bytes.buffer.slice(bytes.byteOffset,
			bytes.byteOffset + bytes.byteLength);
	}
}

/*
 * The script is for a worker of a browser. It asks whether memories of 64 bits can be had,
 * by a module of some bytes; the file that is there is the one for 32.
 */
function startWorker(folder) {
	const self = { location: { href: '' } };
	const wasm = Object.create(WebAssembly, { Module: {
		value: class extends WebAssembly.Module {
			constructor(bytes) {
				// The section of memories, and the flag of one with 64 bits
				if (bytes[8] === 5 && bytes[11] === 4)
					throw new WebAssembly.CompileError('not here');
				super(bytes);
			}
		},
	} });
	const globals = {
		self, WebAssembly: wasm, WorkerGlobalScope: Object,
		XMLHttpRequest: class extends Request {
			constructor() {
				super(folder);
			}
		},
		// What it prints of its own is told by stats, too.
		console: { log() {}, warn() {}, error: console.error },
	};
	const script = readFileSync(join(folder, 'engine_bundle.node.js'), 'utf8');

	new Function(...Object.keys(globals), script)(...Object.values(globals));
	return self;
}

async function openEngine(folder) {
	const { EngineBase } = await import(pathToFileURL(join(folder, 'engine.mjs')));
	const worker = startWorker(folder);
	const port = {};

	class Engine extends EngineBase {
		id = 'test';
		mode = 'WASM';

		rpcSendRequestBytes(data) {
			port.onmessage({ data });
		}
	}
	const engine = new Engine();

	port.postMessage = (data) => engine.onRpcResponseBytes(data);
	// What comes with the runtime is done before the port is there.
	await new Promise((done) => setTimeout(done, 0));
	worker.onmessage({ data: port });
	return engine;
}

async function load(engine, path) {
	const bytes = readFileSync(path);

	for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
		await engine.parse(new Uint8Array(bytes.subarray(at, at + CHUNK_BYTES)));
	await engine.notifyEof();
}

async function ask(engine, sql) {
	const result = await engine.query(sql);
	const columns = result.columns();
	const rows = [];

	for (const row = result.iter({}); row.valid(); row.next())
		rows.push(columns.map((name) => row.get(name)));
	return rows;
}

// What engine.mjs says of fields that it does not know is no part of the answer.
console.warn = () => {};

function print(row, separator) {
	process.stdout.write(row.map((value) => String(value ?? '').replaceAll('\n', ' ')).join(separator) + '\n');
}

async function main([folder, path, ...queries]) {
	const engine = await openEngine(folder);

	await load(engine, path);
	for (const row of await ask(engine, ERRORS))
		print(['stat', ...row], ' ');
	for (const query of queries) {
		const [, name, sql] = query.match(/^(\w+)=(.*)$/s);

		for (const row of await ask(engine, sql))
			print([name, ...row], '|');
	}
}

main(process.argv.slice(2)).catch((error) => {
	console.error(error);
	process.exitCode = 1;
});
