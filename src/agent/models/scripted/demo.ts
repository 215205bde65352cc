import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  JSONSchema7,
  JSONSchema7Definition,
} from '@ai-sdk/provider';
import type { JsonObject, Json } from '../../context/message.ts';
import { cleanText } from '../../../base/checks/values.ts';
import { type ScriptedTurn, lastUserText, resultText, sinceLastUser, toolResultParts } from './script.ts';

/** Characters of a question that are searched. */
const maxQuestion = 2_000;

/**
 * A small ReAct script that works with any tools: first up to two calls with arguments taken from the last user
 * message, then an answer that quotes the results.
 */
export function demoTurn({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): ScriptedTurn {
  const question = lastUserText(prompt).slice(0, maxQuestion);
  const results = toolResultParts(sinceLastUser(prompt));
  if (results.length > 0) {
    const quoted = results.map((result) => `${result.toolName} says ${shorten(resultText(result), 300)}`).join('; ');
    return { text: `Here is what I found: ${quoted}.`, calls: [] };
  }
  const offered = toolChoice?.type === 'none' ? [] : tools.filter((tool) => tool.type === 'function');
  const usable = toolChoice?.type === 'tool' ? offered.filter((tool) => tool.name === toolChoice.toolName) : offered;
  const [first] = usable;
  if (!first)
    return { text: `You said: ${shorten(question, 300) || 'nothing'}. I have no tools to find out more.`, calls: [] };
  const calls = usable.flatMap((tool) => callFor(tool, question)).slice(0, 2);
  if (calls.length > 0) return { text: '', calls };
  return { text: '', calls: [{ name: first.name, input: placeholderArgs(first.inputSchema, question) }] };
}

function callFor(tool: LanguageModelV4FunctionTool, question: string): { name: string; input: JsonObject }[] {
  const properties = tool.inputSchema.properties ?? {};
  const has = (name: string) => Object.hasOwn(properties, name);
  const expression = has('expression') ? expressionIn(question) : undefined;
  const place = has('city') || has('location') ? placeIn(question) : undefined;
  const known: JsonObject = {};
  const id = idIn(question);
  const named = Object.keys(properties).find((name) =>
    /(?:^id|_id|Id|[Cc]ode|[Nn]umber|[Rr]ef(?:erence)?)$/.test(name),
  );
  if (id && named && (properties[named] as { type?: unknown }).type === 'string') known[named] = id;
  if (expression) known.expression = expression;
  if (place) known[has('city') ? 'city' : 'location'] = place;
  if (Object.keys(known).length === 0) return [];
  return [{ name: tool.name, input: { ...placeholderArgs(tool.inputSchema, question), ...known } }];
}

/** Arithmetic as written (`12 * (3 + 4)`), or else the sum of the numbers in the text. */
function expressionIn(text: string): string | undefined {
  const written = arithmeticIn(text);
  if (written) {
    const expression = written.replace(/[×x]/gi, '*').trim().replace(/\.$/, '');
    // The match may include an unpaired parenthesis of the surrounding sentence.
    return expression.split('(').length === expression.split(')').length ? expression : expression.replace(/[()]/g, '');
  }
  const numbers = text.match(/\d+(?:\.\d+)?/g);
  if (!numbers) return undefined;
  return numbers.join(/\btimes\b|\bmultipl|\bproduct\b/i.test(text) ? ' * ' : ' + ');
}

/** The first operands with signs between them, from a digit or a parenthesis on. */
function arithmeticIn(text: string): string | undefined {
  for (const [run] of text.matchAll(/[\d(][-+*/×x^%\d\s.()]*/gi)) {
    const parts = run.split(/([-+*/×x^%])/i);
    for (let from = 0; from < parts.length; from += 2) {
      const start = parts[from]!.search(/[\d(]/);
      if (start < 0 || !parts[from + 2]) continue;
      let to = from + 2;
      while (parts[to + 2]) to += 2;
      return parts
        .slice(from, to + 1)
        .join('')
        .slice(start);
    }
  }
  return undefined;
}

/** Text that looks like an id: `A-17`, `INV-2024-003`, `#4711`. */
const idIn = (text: string): string | undefined =>
  /(?<![\p{L}\d_])\p{Lu}+-?\d[\p{L}\d-]*|(?<=#)\d[\p{L}\d-]*/u.exec(text)?.[0];

const afterPreposition = /\b(?:in|at|for|near|to|of)\s+(\p{Lu}[\p{L}'-]+(?:\s+\p{Lu}[\p{L}'-]+)*)/u;
const insideSentence = /[\p{Ll}\d,]\s+(\p{Lu}[\p{L}'-]+(?:\s+\p{Lu}[\p{L}'-]+)*)/u;

/** A capitalised name after a preposition, or anywhere but at the start of a sentence. */
const placeIn = (text: string): string | undefined =>
  afterPreposition.exec(text)?.[1] ?? insideSentence.exec(text)?.[1];

const shorten = (text: string, length: number): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${cleanText(line.slice(0, length - 1))}…` : line;
};

const formats: Record<string, string> = {
  date: '2025-01-01',
  time: '12:00:00Z',
  'date-time': '2025-01-01T12:00:00Z',
  email: 'user@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * Arguments that satisfy a tool's schema well enough to call it: constants, defaults and examples where there are any,
 * else `text` for strings and its first number for numbers. Fills the required properties, or all properties if it requires nothing.
 */
export function placeholderArgs(schema: JSONSchema7, text: string): JsonObject {
  const value = placeholder(schema, { root: schema, text, depth: 0 });
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

interface Context {
  root: JSONSchema7;
  text: string;
  depth: number;
}

function placeholder(definition: JSONSchema7Definition | undefined, context: Context): Json {
  if (definition === undefined || typeof definition === 'boolean' || context.depth > 8) return null;
  const inner = { ...context, depth: context.depth + 1 };
  const schema = definition;
  if (schema.$ref) return placeholder(lookUp(schema.$ref, context.root), inner);
  const given = [schema.const, schema.default, schema.enum?.[0], ([] as unknown[]).concat(schema.examples ?? [])[0]];
  const fixed = given.find((value) => value !== undefined);
  if (fixed !== undefined) return fixed as Json;
  const option = schema.anyOf?.[0] ?? schema.oneOf?.[0] ?? schema.allOf?.[0];
  if (option !== undefined && !schema.properties) return placeholder(option, inner);
  const type = Array.isArray(schema.type)
    ? schema.type[0]
    : (schema.type ?? (schema.properties ? 'object' : undefined));
  if (type === 'object') return objectOf(schema, inner);
  if (type === 'array')
    return Array.from({ length: Math.min(schema.minItems ?? 0, 10) }, () =>
      placeholder([schema.items].flat()[0], inner),
    );
  if (type === 'string') return stringOf(schema, context.text);
  if (type === 'number' || type === 'integer') return numberOf(schema, type, context.text);
  return type === 'boolean' ? true : null;
}

function objectOf(schema: JSONSchema7, context: Context): JsonObject {
  const properties = schema.properties ?? {};
  const names = schema.required?.length ? schema.required : context.depth === 1 ? Object.keys(properties) : [];
  return Object.fromEntries(names.map((name) => [name, placeholder(properties[name], context)]));
}

function stringOf(schema: JSONSchema7, text: string): string {
  const value = (schema.format && formats[schema.format]) || text.trim() || 'example';
  return value.slice(0, Math.min(schema.maxLength ?? 200, 200)).padEnd(Math.min(schema.minLength ?? 0, 200), '.');
}

function numberOf(schema: JSONSchema7, type: 'number' | 'integer', text: string): number {
  const found = Number(/-?\d+(?:\.\d+)?/.exec(text)?.[0] ?? 1);
  const bounded = Math.min(Math.max(found, schema.minimum ?? -Infinity), schema.maximum ?? Infinity);
  return type === 'integer' ? Math.round(bounded) : bounded;
}

function lookUp(ref: string, root: JSONSchema7): JSONSchema7Definition | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const key of ref.slice(1).split('/').filter(Boolean))
    node = (node as Record<string, unknown> | undefined)?.[key];
  return node as JSONSchema7Definition | undefined;
}
