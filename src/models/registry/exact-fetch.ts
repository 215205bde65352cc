import { marked } from '../messages/marked-json.ts';
import { providerFetch } from './provider-fetch.ts';

const safe = (text: string): string => (calls.test(text) ? marked(text) : text);

/** Marks, line by line, what JavaScript cannot hold exactly. Only calls contain values that a model wrote. */
export const safeLines = (lines: string): string => lines.split('\n').map(safe).join('\n');

/** As Google and Anthropic name them. */
const calls = /"functionCall"|"tool_use"/;

/**
 * `fetch` for a provider whose answers have the arguments of a call as JSON values, see `marked`.
 */
export const exactFetch = providerFetch({ lines: safeLines, json: safe });
