import { canonicalMessage, contextHash } from '../../../agent/context/canonical.ts';
import type { Message } from '../../../agent/context/message.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import { findFlaw } from '../../../base/checks/values.ts';
import { isObject, maxRequestDepth, readJson } from '../../../base/common/json.ts';
import type { Expected } from '../types.ts';
import { readExpected } from './read-expected.ts';
import { readLabels } from './read-labels.ts';

/** A case as a line of a file asks for it: one answer to these messages. */
export interface PortableCase {
  /** In canonical form. */
  messages: Message[];
  /** Of the messages. */
  contextHash: string;
  agent: string;
  model: string;
  /** Of the case it was exported from. An imported one is a `call`. */
  kind: 'run' | 'call';
  expected: Expected | null;
  tags: readonly string[];
  split: string | null;
  note: string | null;
}

const version = 1;
const required = ['version', 'messages', 'context_hash', 'agent', 'model', 'kind'] as const;
const optional = ['expected', 'tags', 'split', 'note'] as const;
const keys = new Set<string>([...required, ...optional]);

/** The line of a case, without its end. */
export const writeCaseLine = ({ messages, contextHash: hash, agent, model, kind, ...rest }: PortableCase): string => {
  const { expected, tags, split, note } = rest;
  return JSON.stringify({ version, messages, context_hash: hash, agent, model, kind, expected, tags, split, note });
};

/** @throws LanefoldError `import_refused`, `details.line` is the line, from 1 */
export function readCaseLine(text: string, line: number): PortableCase {
  const refused = (problem: string) => refusedLine(line, problem);
  const read = readJson(text, maxRequestDepth);
  if (!read.ok && read.kind !== 'syntax') throw refused(`cannot be imported: ${read.problem}`);
  if (!read.ok || !isObject(read.value)) throw refused('is not a JSON object');
  const fields = read.value;
  const unknown = Object.keys(fields).find((key) => !keys.has(key));
  if (unknown !== undefined) throw refused(`has the field ${unknown}, which no case has`);
  const missing = required.find((key) => fields[key] === undefined);
  if (missing !== undefined) throw refused(`lacks ${missing}`);
  if (fields['version'] !== version)
    throw refused(`has the version ${JSON.stringify(fields['version'])}, not ${version}`);
  const { agent, model, kind } = fields;
  if (!isName(agent) || !isName(model)) throw refused('has an agent or a model that is not a name');
  if (kind !== 'run' && kind !== 'call') throw refused('has a kind other than run and call');
  const messages = messagesOf(fields['messages'], refused);
  const hash = contextHash(messages);
  if (hash !== fields['context_hash'])
    throw refused(`was changed: its context_hash is ${String(fields['context_hash'])}, but its messages have ${hash}`);
  const { expected = null, tags, split = null, note = null } = fields;
  try {
    if (expected !== null) readExpected(expected as Expected);
    const labels = readLabels({ tags: (tags ?? []) as string[], split: split as string, note: note as string });
    return {
      messages,
      contextHash: hash,
      agent,
      model,
      kind,
      expected: expected as Expected | null,
      tags: labels.tags ?? [],
      split: labels.split ?? null,
      note: labels.note ?? null,
    };
  } catch (error) {
    if (!isLanefoldError(error, 'invalid_input')) throw error;
    throw refused(`is invalid: ${String(error.details?.['field'])} ${String(error.details?.['problem'])}`);
  }
}

/** The first message may be the prompt; the others are of users, models and tools. */
function messagesOf(given: unknown, refused: (problem: string) => LanefoldError): Message[] {
  if (!Array.isArray(given)) throw refused('has messages that are not a list');
  const flaw = findFlaw(given);
  if (flaw) throw refused(`contains ${flaw.what} at ${flaw.path}`);
  const messages = given.map((message: unknown) => canonicalMessage(Object(message) as Message));
  const isPrompt = ({ role }: Message): boolean => role === 'system';
  if (messages.slice(1).some(isPrompt)) throw refused('has a system message after the first message');
  if (messages.every(isPrompt)) throw refused('has no message besides the prompt');
  if (isPrompt(messages[0]!) && typeof messages[0]!.content !== 'string')
    throw refused('has a system message that is not a text');
  return messages;
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 256 && !findFlaw(value);

export const refusedLine = (line: number, problem: string): LanefoldError =>
  new LanefoldError('import_refused', `Line ${line} ${problem}.`, {
    hint: 'Nothing was imported. Correct the line, or export the dataset again.',
    details: { line },
  });
