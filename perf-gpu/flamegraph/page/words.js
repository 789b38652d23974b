// SPDX-License-Identifier: GPL-2.0-or-later
/* How things are called on the page. */

// By enum frame_class (sink/frame_names.h); the last one is that of "all", too.
export const CLASSES = [
	{ key: 'native', legend: 'native code' },
	{ key: 'python', legend: 'Python' },
	{ key: 'api', legend: 'CUDA API' },
	{ key: 'gpu', legend: 'GPU' },
	{ key: 'label', legend: 'label' },
	{ key: 'root', legend: 'process' },
];

const PYTHON = 1;

export function formatCount(nr) {
	return nr.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

export function formatShare(part, whole) {
	return `${whole ? (100 * part / whole).toFixed(2) : '0.00'} %`;
}

/* "1,234 ns, 12.34 %, 5 calls"; without the share if whole is 0 */
export function describe(period, calls, whole, unit) {
	const share = whole ? `, ${formatShare(period, whole)}` : '';

	return `${formatCount(period)} ${unit}${share}, ${formatCount(calls)} call${calls === 1 ? '' : 's'}`;
}

/* In a frame: the colour tells that it is Python's, the tip has the file. */
export function shownName(text, frameClass) {
	if (frameClass !== PYTHON || !text.startsWith('py::'))
		return text;
	return text.slice(4).replace(/:[^:]*$/, '');
}

export function titleOf(event, processes) {
	const names = processes.length > 3 ? [...processes.slice(0, 3), '…'] : processes;

	return names.length ? `${names.join(', ')}: ${event}` : event;
}
