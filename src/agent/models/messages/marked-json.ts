import { isDeeper, maxRequestDepth, outsideStrings, parseJson, quoteNumbers } from '../../../base/common/json.ts';

/*
 * Some providers send the arguments of a call as a JSON value, not as text, and their SDK reads it before we do: numbers as
 * doubles, nesting with recursion. So what would not survive that is put into strings behind a mark, and restored in the
 * text that the SDK writes from the value.
 */
const mark = '\u0000json ';

/** JSON in which numbers that a double cannot hold, and values nested too deep, are marked strings. */
export const marked = (json: string): string => quoteNumbers(isDeeper(json, maxRequestDepth) ? cut(json) : json, mark);

/** JSON that was written from marked JSON, as it was before. */
export const unmarked = (json: string): string => (json.includes(written) ? withoutMarks(json) : json);

/** How a marked string begins in JSON. */
const written = '"\\u0000json ';

function withoutMarks(json: string): string {
  let result = '';
  let copied = 0;
  let string = -1;
  for (const [from, to] of outsideStrings(json)) {
    if (string >= 0 && json.startsWith(written, string)) {
      result += json.slice(copied, string) + (parseJson(json.slice(string, from)) as string).slice(mark.length);
      copied = from;
    }
    string = to;
  }
  return result + json.slice(copied);
}

function cut(json: string): string {
  let result = '';
  let copied = 0;
  let depth = 0;
  for (const [from, to] of outsideStrings(json)) {
    for (let at = from; at < to; at++) {
      const char = json[at];
      if (char === '[' || char === '{') {
        if (depth === maxRequestDepth) {
          result += json.slice(copied, at);
          copied = at;
        }
        depth += 1;
      } else if (char === ']' || char === '}') {
        depth -= 1;
        if (depth === maxRequestDepth) {
          result += JSON.stringify(mark + json.slice(copied, at + 1));
          copied = at + 1;
        }
      }
    }
  }
  return result + json.slice(copied);
}
