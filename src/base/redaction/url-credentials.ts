/**
 * Hides `user:password` in URLs, in time proportional to the text. A password may itself contain `@`, `/`, `?` or `#`,
 * so it ends at the last `@` before a space or a quote. A short number before a path is a port.
 */
export const hideUrlCredentials = (text: string, mark: string): string =>
  text.replace(/:\/\/[^\s"']+/g, (urls) => {
    const end = urls.lastIndexOf('@');
    const start = urls.slice(0, Math.max(end, 0)).search(/:\/\/[^:/?#@[]*:(?!\d{1,5}[/?#])/);
    return start === -1 ? urls : `${urls.slice(0, start)}://${mark}${urls.slice(end)}`;
  });
