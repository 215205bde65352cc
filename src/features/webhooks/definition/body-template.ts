import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { isObject } from '../../../base/common/json.ts';
import { fillPlaceholders, placeholdersIn, withoutPlaceholders } from '../../../base/common/placeholders.ts';

/** What is sent without a template, and what a template may name. */
export interface WebhookEvent {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** What the data of events has; which of it, depends on the type. */
const dataFields = new Set([
  ...['thread_id', 'run_id', 'request_id', 'agent', 'status', 'termination_reason', 'finish_reason', 'error', 'usage'],
  ...['other_usage', 'started_at', 'finished_at', 'result', 'result_bytes', 'limited_by', 'webhook'],
  ...['calls', 'expires_at', 'round', 'index', 'tool_call_id', 'tool_name', 'kind', 'event', 'child'],
  ...['schedule', 'slot', 'monitor', 'agents', 'below', 'of', 'mean', 'worst'],
  ...['alarm', 'filter', 'within_ms', 'more_than', 'share', 'runs', 'all', 'newest', 'since', 'because'],
]);

const maxBytes = 8_192;
const maxPlaceholders = 50;
const maxDepth = 10;
/** How much of a value is written, in UTF-16 units. */
const maxValue = 4_000;

/** What is wrong with a template, as the end of a sentence that begins with its name; undefined: nothing. */
export function templateProblem(template: unknown): string | undefined {
  if (!isObject(template)) return 'must be a JSON object';
  if (Buffer.byteLength(JSON.stringify(template)) > maxBytes) return `must have at most ${maxBytes} bytes`;
  let named = 0;
  const problemOf = (value: unknown, depth: number): string | undefined => {
    if (depth > maxDepth) return `must have at most ${maxDepth} levels`;
    if (typeof value === 'string') {
      named += placeholdersIn(value).length;
      return textProblem(value);
    }
    if (Array.isArray(value)) return firstOf(value, (item) => problemOf(item, depth + 1));
    if (!isObject(value)) return undefined;
    return firstOf(Object.entries(value), ([key, item]) =>
      key.includes('{{') ? `has a placeholder in the name ${JSON.stringify(key)}` : problemOf(item, depth + 1),
    );
  };
  const problem = problemOf(template, 1);
  if (problem !== undefined) return problem;
  return named > maxPlaceholders ? `must have at most ${maxPlaceholders} placeholders` : undefined;
}

function textProblem(text: string): string | undefined {
  const unknown = placeholdersIn(text).find((name) => !isKnown(name));
  if (unknown !== undefined) return `has the unknown placeholder {{${unknown}}}`;
  return /\{\{|\}\}/.test(withoutPlaceholders(text))
    ? `has an incomplete placeholder in ${JSON.stringify(text)}`
    : undefined;
}

function firstOf<Item>(items: readonly Item[], problemOf: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isKnown(name: string): boolean {
  const [first, field, ...rest] = name.split('.');
  if (field === undefined) return first === 'id' || first === 'type' || first === 'timestamp' || first === 'data';
  return first === 'data' && dataFields.has(field) && rest.every((part) => /^[A-Za-z0-9_]{1,64}$/.test(part));
}

/**
 * The body that a template makes of an event. Values are filled in after the template was read as JSON, so no value can
 * leave the text that it stands in.
 *
 * @param id the `webhook-id`
 */
export function bodyOf(template: JsonObject, event: WebhookEvent, id: string): string {
  const values = { ...event, id };
  const filled = (value: Json): Json => {
    if (typeof value === 'string') return fillPlaceholders(value, (name) => textOf(valueAt(values, name.split('.'))));
    if (Array.isArray(value)) return value.map(filled);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item as Json)]));
  };
  return JSON.stringify(filled(template));
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

/** A value as text: JSON unless it is text, and nothing for null. Not cut inside of a character. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= maxValue) return text;
  return `${text.slice(0, maxValue).replace(/[\ud800-\udbff]$/, '')}…`;
}
