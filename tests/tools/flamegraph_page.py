#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses a page of perf-gpu flamegraph in Chromium, as a person does:

    flamegraph_page.py PAGE STEP...

    root            print "all: <its tip>"
    tip NAME        point at a frame; print what the tip says, in one line
    click NAME      click a frame
    reset           press the button that zooms out
    select ID VALUE choose in a list
    search TEXT     type it
    marked          print the names of the frames that are marked as found, sorted
    frames          print how many frames are drawn
    width NAME      print a frame's share of the picture's width, in per cent
    label NAME      print what is written in a frame
    status          print the line below the controls
    colour NAME     print a frame's colour
    eval JS         print what it is
    dark            prefer dark
    size W H        make the window so large
    picture FILE    take a screenshot
    time MS         fail if the browser has taken more CPU time, from the last "time" or the
                    beginning on

NAME is a frame's label; of several, the first. What the console said and what was asked of
a network comes last, on lines "complaint: ..." and "request: ..."; there should be none."""
import sys

from browser import Browser

FIND = """[...document.querySelectorAll('g.frame')]
    .find(g => g.getAttribute('name') === %r)"""


def need(frame, name):
    if frame is None:
        sys.exit(f"no frame {name}")
    return frame


class Page:
    def __init__(self, browser):
        self.browser = browser
        self.began_s = browser.cpu_s()

    def middle(self, name):
        self.browser.evaluate(f"({FIND % name})?.scrollIntoView({{block: 'center'}})")
        place = self.browser.evaluate(f"""(() => {{
            const box = ({FIND % name})?.querySelector('rect').getBoundingClientRect();
            return box && [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        return need(place, name)

    def root(self):
        self.tip("all")

    def tip(self, name):
        self.browser.point(1, 1)
        self.browser.point(*self.middle(name))
        self.browser.settle()
        print(self.browser.evaluate("""[...document.querySelectorAll('#tip:not([hidden]) div')]
            .map(line => line.textContent).join(' | ')"""))

    def click(self, name):
        self.browser.press(*self.middle(name))
        self.browser.settle()

    def reset(self):
        self.browser.evaluate("document.getElementById('reset').click()")
        self.browser.settle()

    def select(self, name, value):
        if not self.browser.evaluate(f"""(() => {{
            const list = document.getElementById({name!r});
            const option = [...list.options].find(option => option.text === {value!r});
            if (!option)
                return false;
            list.value = option.value;
            list.dispatchEvent(new Event('change'));
            return true; }})()"""):
            sys.exit(f"{name} has no {value}")
        self.browser.settle()

    def search(self, text):
        self.browser.evaluate(f"""(() => {{ const field = document.getElementById('search');
            field.value = {text!r}; field.dispatchEvent(new Event('input')); }})()""")
        self.browser.settle()

    def marked(self):
        print(*sorted(set(self.browser.evaluate("""[...document.querySelectorAll('g.frame')]
            .filter(g => g.querySelector('rect').getAttribute('fill') === 'var(--search)')
            .map(g => g.getAttribute('name'))"""))))

    def frames(self):
        print(self.browser.evaluate("document.querySelectorAll('g.frame').length"))

    def width(self, name):
        share = self.browser.evaluate(f"""(() => {{ const frame = {FIND % name};
            return frame && 100 * frame.querySelector('rect').getAttribute('width')
                / frame.ownerSVGElement.getAttribute('width'); }})()""")
        print(f"{need(share, name):.2f}")

    def label(self, name):
        print(need(self.browser.evaluate(
            f"({FIND % name})?.querySelector('.d3-flame-graph-label').textContent"), name))

    def status(self):
        print(self.browser.evaluate("document.getElementById('status').textContent"))

    def colour(self, name):
        print(need(self.browser.evaluate(f"""(() => {{ const frame = {FIND % name};
            return frame && getComputedStyle(frame.querySelector('rect')).fill; }})()"""), name))

    def eval(self, expression):
        print(self.browser.evaluate(expression))

    def dark(self):
        self.browser.dark(True)
        self.browser.settle()

    def size(self, width, height):
        self.browser.size(int(width), int(height))
        self.browser.settle()

    def picture(self, path):
        self.browser.screenshot(path)

    def time(self, limit_ms):
        took_ms = 1000 * (self.browser.cpu_s() - self.began_s)
        if took_ms > float(limit_ms):
            sys.exit(f"took {took_ms:.0f} ms of CPU time, not {limit_ms}")
        self.began_s = self.browser.cpu_s()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    steps = sys.argv[2:]
    with Browser("chromium") as browser:
        page = Page(browser)
        browser.open("file://" + sys.argv[1])
        browser.settle()
        while steps:
            step = getattr(page, steps.pop(0))
            nr = step.__code__.co_argcount - 1
            step(*steps[:nr])
            del steps[:nr]
        for complaint in browser.complaints:
            print("complaint:", complaint)
        for request in browser.requests:
            print("request:", request)


main()
