/**
 * Where the focus is after a step to another view: on its heading, or, on the way back, on the link one left by. The link is
 * kept with the step in the history of the browser, so that it survives a reload.
 */
interface Step {
  left?: { href: string; nth: number };
}

let arrived = false;
let stopLooking = () => {};

const linksTo = (to: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>('main a')].filter((link) => link.getAttribute('href') === to);

addEventListener(
  'click',
  ({ target }) => {
    const link = (target as Element).closest<HTMLElement>('main a[href^="#/"]');
    const to = link?.getAttribute('href');
    if (link && to) history.replaceState({ left: { href: to, nth: linksTo(to).indexOf(link) } } satisfies Step, '');
  },
  true,
);

const pathOf = (url: string): string => new URL(url).hash.split('?')[0]!;
addEventListener('hashchange', ({ oldURL, newURL }) => {
  if (pathOf(oldURL) !== pathOf(newURL)) arrived = true;
});

/** The heading of a view is there. The first view of a visit leaves the focus to the browser. */
export function arrive(heading: HTMLElement): void {
  if (!arrived) return;
  arrived = false;
  stopLooking();
  heading.focus();
  const { left } = (history.state ?? {}) as Step;
  if (!left) return;
  // what is in the view may come later than its heading
  const look = () => {
    if (document.activeElement !== heading) return stopLooking();
    const links = linksTo(left.href);
    (links[left.nth] ?? links[0])?.focus();
  };
  const observer = new MutationObserver(look);
  stopLooking = () => observer.disconnect();
  observer.observe(document.querySelector('main')!, { childList: true, subtree: true });
  look();
}
