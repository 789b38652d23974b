// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flame graph's page. d3-flame-graph draws what is wide enough to be seen, at most
 * MAX_FRAMES; what that is is found in the whole tree (tree.js) at every zoom, so that a
 * recording of many stacks costs no more to look at than a small one.
 *
 * Names come from a recording, whoever wrote it: they get into the document as text only.
 */
import flamegraph from 'd3-flame-graph';
import { select } from 'd3-selection';
import { Tree, ALL_DEVICES, NEW, OLD } from './tree.js';
import { CLASSES, formatCount, formatShare, describe, fittingName, shownName, isFarFrom, titleOf } from './words.js';

const MAX_FRAMES = 5000;
const CELL_HEIGHT = 18;

const element = (id) => document.getElementById(id);
const tree = new Tree(JSON.parse(element('data').textContent));
const chartElement = element('chart');

const state = {
	focus: -1, // node that is zoomed to; -1: all
	sums: null, // of what is shown
	other: null, // of the other recording, if there are two
	search: '',
	isSharesChosen: false, // by who looks at it
	isDrawn: false,
};

// --- what is shown ---------------------------------------------------------------------

function selectedEvent() {
	return tree.events[element('event').value];
}

function selectedRecording() {
	return tree.isDifferential && element('widths').value === 'old' ? OLD : NEW;
}

function takeSelection() {
	const event = selectedEvent();
	const device = element('device').value;
	const number = device === 'all' ? ALL_DEVICES : Number(device);
	const recording = selectedRecording();

	state.sums = tree.sum(event.id, number, recording);
	state.other = tree.isDifferential ? tree.sum(event.id, number, 1 - recording) : null;
	if (state.other && !state.isSharesChosen)
		element('shares').checked = isFarFrom(state.sums.period, state.other.period);
	// What is zoomed to may have nothing of this.
	while (state.focus >= 0 && !state.sums.periods[state.focus])
		state.focus = tree.parents[state.focus];
}

function periodOf(sums, node) {
	return node < 0 ? sums.period : sums.periods[node];
}

function callsOf(sums, node) {
	return node < 0 ? sums.nr : sums.nrs[node];
}

// --- colours ------------------------------------------------------------------------------

function isColouredByChange() {
	return tree.isDifferential && element('colours').value === 'change';
}

// Without anything in one of them there are no shares to compare.
function isOfShares() {
	return element('shares').checked && state.sums.period > 0 && state.other.period > 0;
}

function colourOf(frame) {
	const node = frame.data.node;

	if (frame.highlight)
		return 'var(--search)';
	if (!isColouredByChange())
		return `var(--${CLASSES[frame.data.class].key})`;

	const shown = periodOf(state.sums, node);
	const other = periodOf(state.other, node);
	const scale = isOfShares() ? state.sums.period / state.other.period : 1;
	const [now, before] = selectedRecording() === NEW ? [shown, other * scale] : [other * scale, shown];
	const most = Math.max(now, before);
	const share = most ? Math.round(100 * Math.abs(now - before) / most) : 0;

	return `color-mix(in srgb, var(--${now > before ? 'grown' : 'shrunk'}) ${share}%, var(--same))`;
}

// Of frames that have anything of what is shown; "all" is there in any case.
function shownClasses() {
	const isShown = CLASSES.map((_, i) => i === CLASSES.length - 1);

	for (let node = 0; node < tree.nrNodes; node++)
		if (state.sums.periods[node])
			isShown[tree.classOf(node)] = true;
	return CLASSES.filter((_, i) => isShown[i]);
}

function showLegend() {
	const legend = isColouredByChange()
		? isOfShares()
			? [['shrunk', 'smaller share than before'], ['same', 'same share'], ['grown', 'larger share than before']]
			: [['shrunk', 'less than before'], ['same', 'as before'], ['grown', 'more than before']]
		: shownClasses().map(({ key, legend: text }) => [key, text]);

	element('legend').replaceChildren(...legend.map(([key, text]) => {
		const entry = document.createElement('span');

		entry.style.setProperty('--colour', `var(--${key})`);
		entry.textContent = text;
		return entry;
	}));
}

// --- the tip at the pointer -----------------------------------------------------------------

function tipLine(className, text) {
	const line = document.createElement('div');

	line.className = className;
	line.textContent = text;
	return line;
}

function tipLines(node) {
	const { unit } = selectedEvent();
	const period = periodOf(state.sums, node);
	const lines = [tipLine('name', node < 0 ? 'all' : shownName(tree.textOf(node), tree.classOf(node)))];
	const file = node < 0 ? '' : tree.fileOf(node);

	if (file)
		lines.push(tipLine('file', file));
	lines.push(tipLine('sum', describe(period, callsOf(state.sums, node), state.sums.period, unit)));
	if (state.focus >= 0 && period <= periodOf(state.sums, state.focus))
		lines.push(tipLine('zoom', `${formatShare(period, periodOf(state.sums, state.focus))} of what is zoomed to`));
	if (state.other) {
		const other = periodOf(state.other, node);
		const [now, before] = selectedRecording() === NEW ? [period, other] : [other, period];
		const sign = now >= before ? '+' : '−';

		lines.push(tipLine('other', `${selectedRecording() === NEW ? 'before' : 'now'}: ` +
			describe(other, callsOf(state.other, node), state.other.period, unit)));
		lines.push(tipLine('change', `change: ${sign}${formatCount(Math.abs(now - before))} ${unit}` +
			(before ? ` (${sign}${formatShare(Math.abs(now - before), before)})` : '')));
	}
	return lines;
}

const tip = () => {};

tip.show = (event, frame) => {
	const box = element('tip');

	box.replaceChildren(...tipLines(frame.data.node));
	box.hidden = false;
	box.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - box.offsetWidth - 8))}px`;
	box.style.top = `${event.clientY + 16 + box.offsetHeight < innerHeight
		? event.clientY + 16 : Math.max(4, event.clientY - box.offsetHeight - 10)}px`;
	return tip;
};

tip.hide = () => {
	element('tip').hidden = true;
	return tip;
};

// --- drawing -----------------------------------------------------------------------------------

function chartWidth() {
	return Math.max(300, chartElement.clientWidth - 20);
}

// Of a label's font, which is monospaced (page.css); and what is beside it
const LABEL_FONT = '11px "DejaVu Sans Mono", Menlo, Consolas, monospace';
const LABEL_MARGINS = 6;
const letterWidth = (() => {
	const context = document.createElement('canvas').getContext('2d');

	context.font = LABEL_FONT;
	return context.measureText('M'.repeat(100)).width / 100;
})();

/*
 * d3-flame-graph asks for a frame's name, and, as what is written into an element, for its
 * label. The focus, and with it the root, is as wide as the chart.
 */
function nameOrLabel(frame) {
	const { node, name } = frame.data;

	if (!(this instanceof Element) || node < 0)
		return name;
	const room = Math.floor(((frame.x1 - frame.x0) * chartWidth() - LABEL_MARGINS) / letterWidth);

	return fittingName(tree.textOf(node), frame.data.class, tree.shortOf(node), room);
}

const chart = flamegraph()
	.cellHeight(CELL_HEIGHT)
	.transitionDuration(0)
	.resetHeightOnZoom(true)
	.tooltip(tip)
	.getName(nameOrLabel)
	.setColorMapper(colourOf)
	.setSearchMatch((frame) => state.matches !== null && frame.data.node >= 0 &&
		state.matches[tree.nameIds[frame.data.node]] === 1)
	.setSearchHandler(() => {})
	.setDetailsHandler(() => {})
	.onClick((frame) => zoomTo(frame.data.node));

// As objects for d3-flame-graph; what is above the focus is there to go back.
function frameOf(node, children) {
	return {
		node,
		name: node < 0 ? 'all' : shownName(tree.textOf(node), tree.classOf(node)),
		class: node < 0 ? CLASSES.length - 1 : tree.classOf(node),
		value: periodOf(state.sums, node),
		children,
	};
}

function drawnTree() {
	const visible = tree.visible(state.sums, state.focus, chartWidth(), MAX_FRAMES);
	const frames = new Map();

	// Callers come first in the list.
	for (const node of visible.nodes) {
		const frame = frameOf(node, []);

		frames.set(node, frame);
		if (node !== state.focus)
			frames.get(tree.parentOf(node)).children.push(frame);
	}
	let frame = frames.get(state.focus);

	for (let node = state.focus; node >= 0;) {
		node = tree.parentOf(node);
		frame = frameOf(node, [frame]);
		frame.fade = true;
	}
	return { frame, minPixels: visible.minPixels, isCut: visible.isCut };
}

function draw() {
	const { frame, minPixels, isCut } = drawnTree();

	state.minPixels = minPixels;
	state.isCut = isCut;
	tip.hide();
	chart.width(chartWidth()).inverted(element('inverted').checked);
	if (state.isDrawn)
		chart.update(frame);
	else
		select(chartElement).datum(frame).call(chart);
	state.isDrawn = true;
	if (state.matches)
		chart.search(state.search);
	showStatus();
}

function showStatus() {
	const { unit, name } = selectedEvent();
	const parts = [`${name}: ${describe(state.sums.period, state.sums.nr, 0, unit)}`];

	if (state.other)
		parts.push(`${selectedRecording() === NEW ? 'before' : 'now'}: ${describe(state.other.period, state.other.nr, 0, unit)}`);
	if (state.focus >= 0)
		parts.push(`zoomed to ${shownName(tree.textOf(state.focus), tree.classOf(state.focus))}: ` +
			describe(periodOf(state.sums, state.focus), callsOf(state.sums, state.focus), state.sums.period, unit));
	if (state.matches) {
		const found = tree.sumOfMatches(state.sums, state.matches);

		parts.push(`found: ${describe(found.period, found.nr, state.sums.period, unit)}`);
	}
	if (state.isCut)
		parts.push(`what is narrower than ${state.minPixels} px isn't drawn: zoom in`);
	element('status').textContent = parts.join(' · ');
	document.title = titleOf(name, tree.processes, tree.about[NEW]);
}

// --- what the user does ------------------------------------------------------------------------

function zoomTo(node) {
	state.focus = node;
	draw();
}

function search(term) {
	state.search = term;
	state.matches = term ? tree.match(term) : null;
	if (state.matches)
		chart.search(term);
	else
		chart.clear();
	showStatus();
}

function addOptions(id, options) {
	element(id).replaceChildren(...options.map(([value, text]) => {
		const option = document.createElement('option');

		option.value = value;
		option.textContent = text;
		return option;
	}));
}

function deviceName(device) {
	const name = tree.deviceNames.get(device);

	return device < 0 ? 'none' : `${device}${name ? ` (${name})` : ''}`;
}

function fillControls() {
	const first = Math.max(0, tree.events.findIndex((event) => tree.sum(event.id, ALL_DEVICES, NEW).period));

	addOptions('event', tree.events.map((event, i) => [i, event.name]));
	element('event').value = first;
	addOptions('device', [['all', 'all'], ...tree.devices.map((device) => [device, deviceName(device)])]);
	addOptions('widths', [['new', 'now'], ['old', 'before']]);
	addOptions('colours', [['change', 'change'], ['kind', 'kind of frame']]);
	for (const label of document.querySelectorAll('.differential'))
		label.hidden = !tree.isDifferential;
}

function showAbout() {
	const texts = tree.isDifferential
		? [['now', tree.about[NEW]], ['before', tree.about[OLD]]].map(([when, text]) => text && `${when}: ${text}`)
		: [tree.about[NEW]];

	element('about').replaceChildren(...texts.filter(Boolean).map((text) => tipLine('', text)));
}

function listen() {
	const change = () => {
		takeSelection();
		showLegend();
		draw();
	};
	let timer = 0;

	element('shares').addEventListener('change', () => {
		state.isSharesChosen = true;
	});
	for (const id of ['event', 'device', 'widths', 'colours', 'shares', 'inverted'])
		element(id).addEventListener('change', change);
	element('reset').addEventListener('click', () => zoomTo(-1));
	element('search').addEventListener('input', () => {
		clearTimeout(timer);
		timer = setTimeout(() => search(element('search').value), 150);
	});
	addEventListener('resize', () => {
		clearTimeout(timer);
		timer = setTimeout(draw, 150);
	});
	addEventListener('keydown', (event) => {
		// A second Ctrl-F is the browser's own.
		if ((event.key === '/' || (event.key === 'f' && (event.ctrlKey || event.metaKey))) &&
		    event.target !== element('search')) {
			event.preventDefault();
			element('search').focus();
			element('search').select();
		} else if (event.key === 'Escape' && event.target !== element('search')) {
			zoomTo(-1);
		}
	});
}

state.matches = null;
fillControls();
showAbout();
takeSelection();
showLegend();
draw();
listen();
