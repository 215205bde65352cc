import { inputRequired, type InputRequests } from '@modelcontextprotocol/server';
import type { RunJson } from '../api.ts';
import type { Rights } from '../runs/rights.ts';
import { openCalls, type OpenCall } from '../runs/state.ts';

/** A person reads it in a dialog. */
const mostArgumentChars = 2_000;

/** Unique within a run, as a task must not ask twice under one key. */
export const keyOf = ({ kind, call }: OpenCall): string => `${kind}:${call}`;

/** The questions to the client's user about what a run waits for and the caller may end, by key; undefined: there are none. */
export function inputRequestsOf(run: RunJson, rights: Rights): InputRequests | undefined {
  const calls = openCalls(run).filter(({ kind }) => rights[kind]);
  if (calls.length === 0) return undefined;
  return Object.fromEntries(
    calls.map((call) => [keyOf(call), call.kind === 'approval' ? ask(run, call) : waitFor(run, call)]),
  );
}

const ask = ({ agent }: RunJson, { tool, arguments: given }: OpenCall) =>
  inputRequired.elicit({
    message: `The agent ${agent} wants to call the tool ${tool} with ${shorten(JSON.stringify(given))}. May it?`,
    requestedSchema: {
      type: 'object',
      properties: {
        approve: { type: 'boolean', title: 'Approve', description: 'Whether the call is made.' },
        reason: {
          type: 'string',
          title: 'Reason',
          description: 'The model reads why a call was denied.',
          maxLength: 1_000,
        },
      },
      required: ['approve'],
    },
  });

const waitFor = ({ agent }: RunJson, { tool, event }: OpenCall) =>
  inputRequired.elicit({
    message: `The tool ${tool} of the agent ${agent} waits for the event ${event}. To go on without it, enter its result.`,
    requestedSchema: {
      type: 'object',
      properties: { result: { type: 'string', title: 'Result', description: 'What the call returns: text or JSON.' } },
      required: ['result'],
    },
  });

const shorten = (text = 'nothing'): string =>
  text.length <= mostArgumentChars ? text : `${text.slice(0, mostArgumentChars).toWellFormed()}…`;
