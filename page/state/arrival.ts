/**
 * Moves the focus after navigation: to the heading of the view or, going back, to the link the reader followed. The
 * browser history stores that link, so that it survives a reload.
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
/** The path of the view before this one. */
let before: string | undefined;
addEventListener('hashchange', ({ oldURL, newURL }) => {
  if (pathOf(oldURL) === pathOf(newURL)) return;
  arrived = true;
  before = pathOf(oldURL);
});

/** Goes to the view above: by the history if the reader came from there, so that the focus returns to the link. */
export function leave(up: string): void {
  if (before === up.split('?')[0]) history.back();
  else location.hash = up;
}

/** Called when the heading of a view is drawn. On the first view of a visit, the browser decides the focus. */
export function arrive(heading: HTMLElement): void {
  if (!arrived) return;
  arrived = false;
  stopLooking();
  heading.focus();
  const { left } = (history.state ?? {}) as Step;
  if (!left) return;
  // the content of the view may be drawn after its heading
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
