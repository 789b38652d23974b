// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node build.mjs HEADER: makes the page of what is beside this file and in node_modules, and
 * writes it as a C header. Run by scripts/build-flamegraph-page.sh.
 *
 * The page is in three parts, around the title and the data that perf-gpu flamegraph writes.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const DATA = '@DATA@', TITLE = '@TITLE@';

function readHere(name) {
	return readFileSync(new URL(name, import.meta.url), 'utf8');
}

async function bundle() {
	const result = await build({
		entryPoints: [new URL('page.js', import.meta.url).pathname],
		bundle: true,
		minify: true,
		// d3-flame-graph knows d3-hierarchy's nodes by their class's name
		keepNames: true,
		format: 'iife',
		target: 'es2020',
		legalComments: 'none', // they are all in the page's end
		loader: { '.css': 'empty' }, // page.css has what is wanted of it
		write: false,
		metafile: true,
	});
	const script = result.outputFiles[0].text.trim();

	if (/<\/script|<!--/i.test(script))
		throw new Error('the script has what would end it');
	return { script, inputs: Object.keys(result.metafile.inputs) };
}

// The packages that something of is in the page
function packagesOf(inputs) {
	const names = inputs
		.map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1])
		.filter(Boolean);

	return [...new Set(names)].sort();
}

function licenceOf(name) {
	const folder = new URL(`node_modules/${name}/`, import.meta.url).pathname;
	const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
	const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));

	if (!file || !existsSync(join(folder, file)))
		throw new Error(`${name} has no licence that could go into the page`);
	return `=== ${name} ${about.version} (${about.license})\n\n` +
		readFileSync(join(folder, file), 'utf8').trim();
}

// As a string in which "$&" and the like mean nothing
function put(text, mark, value) {
	if (text.split(mark).length !== 2)
		throw new Error(`page.html has ${mark} not once`);
	return text.split(mark).join(value);
}

function asBytes(name, text) {
	const bytes = [...Buffer.from(text, 'utf8')];
	const lines = [];

	for (let i = 0; i < bytes.length; i += 32)
		lines.push(`\t${bytes.slice(i, i + 32).join(',')},`);
	return `static const unsigned char ${name}[] = {\n${lines.join('\n')}\n};\n`;
}

const { script, inputs } = await bundle();
const hash = createHash('sha256').update(script, 'utf8').digest('base64');
// In a comment of HTML: "--" is none of a licence's business.
const licences = packagesOf(inputs).map(licenceOf).join('\n\n\n').replaceAll('--', '- -');
let page = readHere('page.html');

page = put(page, '@SCRIPT_HASH@', `sha256-${hash}`);
page = put(page, '@STYLE@', readHere('page.css').replace(/\/\*.*?\*\/\n/s, '').trim());
page = put(page, '@LICENCES@', licences);
const [before, middle, behind] = put(put(page, TITLE, '\0'), DATA, '\0').split('\0');
writeFileSync(process.argv[2],
	'/* Made by perf-gpu/flamegraph/page/build.mjs */\n' +
	asBytes('flamegraph_page_before', before) +
	asBytes('flamegraph_page_middle', middle) +
	asBytes('flamegraph_page_behind', put(behind, '@SCRIPT@', script)));
