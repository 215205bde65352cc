import { marked } from '../messages/marked-json.ts';
import { providerFetch } from './provider-fetch.ts';

const safe = (text: string): string => (calls.test(text) ? marked(text) : text);

/** Marks what is no value of JavaScript, line by line. Nothing but calls has values of the model. */
export const safeLines = (lines: string): string => lines.split('\n').map(safe).join('\n');

/** As Google and Anthropic name them. */
const calls = /"functionCall"|"tool_use"/;

/**
 * `fetch` for a provider whose answers have the arguments of a call as JSON values, see `marked`.
 */
export const exactFetch = providerFetch({ lines: safeLines, json: safe });
