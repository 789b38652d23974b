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
const GPU = 3;

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

/*
 * The same where there is room for so many characters: what its colour tells is left out
 * first ("[GPU_Kernel]"), then arguments and parameters, then a kernel's scopes. What is still
 * too long is cut where it is drawn.
 */
export function fittingName(text, frameClass, short, room) {
	const whole = shownName(text, frameClass);
	const bare = frameClass === GPU ? whole.replace(/^\[GPU_[A-Za-z]+\](?=.)/, '') : whole;
	const brief = short || bare;
	const last = frameClass === GPU ? brief.replace(/^.*::(?=[A-Za-z_][A-Za-z0-9_]*$)/s, '') : brief;

	return [whole, bare, brief].find((name) => [...name].length <= room) ?? last;
}

/* By so much that everything would be red, or blue: shares tell more. As svg.c has it. */
export function isFarFrom(total, other) {
	const least = Math.min(total, other);

	return least > 0 && Math.max(total, other) > 1.2 * least;
}

export function titleOf(event, processes, about) {
	const names = processes.length > 3 ? [...processes.slice(0, 3), '…'] : processes;

	return [names.length ? `${names.join(', ')}: ${event}` : event, about].filter(Boolean).join(' · ');
}
