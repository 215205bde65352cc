/**
 * The offset at which a text stops being valid JSON; its length if it ends too early. `JSON.parse` reports the position
 * only in some of its messages.
 */
export function jsonFault(text: string): number {
  let at = 0;
  const take = (token: RegExp): string | undefined => {
    token.lastIndex = at;
    const found = token.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const members = (close: RegExp, member: () => boolean): boolean => {
    take(space);
    if (take(close)) return true;
    do {
      if (!member()) return false;
      take(space);
    } while (take(comma));
    return take(close) !== undefined;
  };
  const value = (): boolean => {
    take(space);
    if (take(/\[/y)) return members(/\]/y, value);
    if (take(/\{/y)) return members(/\}/y, () => key() && value());
    return take(string) !== undefined || take(other) !== undefined;
  };
  const key = (): boolean => {
    take(space);
    if (!take(string)) return false;
    take(space);
    return take(/:/y) !== undefined;
  };
  try {
    if (value()) take(space);
  } catch (error) {
    // nested deeper than the stack: it is unreadable from here on
    if (!(error instanceof RangeError)) throw error;
  }
  return at;
}

const space = /[ \t\r\n]*/y;
const comma = /,/y;

const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const other = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
