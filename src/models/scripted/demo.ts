import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { JsonObject } from '../../context/message.ts';
import { cleanText } from '../../checks/text.ts';
import { placeholderArgs } from './placeholder.ts';
import type { ScriptedTurn } from './id.ts';
import { lastUserText, resultText, sinceLastUser, toolResultParts } from './prompt.ts';

/** Characters of a question that are searched. */
const longestQuestion = 2_000;

/**
 * A small ReAct script that works with any tools: first up to two calls with arguments taken from the last user
 * message, then an answer that quotes the results.
 */
export function demoTurn({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): ScriptedTurn {
  const question = lastUserText(prompt).slice(0, longestQuestion);
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
