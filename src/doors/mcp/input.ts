import {
  inputResponse,
  inputRequired,
  type InputRequests,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { callPath, type Api, type RunJson, type RunName } from './api.ts';
import { openCalls, type OpenCall, type Rights } from './runs.ts';
import { parseJson } from '../../base/common/json.ts';

interface Decision {
  approve: boolean;
  reason?: string | undefined;
}

/** Approves or denies a tool call. @throws LanefoldError `already_decided`, `not_awaiting_approval`, `forbidden` */
export const decide = <T>(
  api: Api,
  run: RunName,
  call: string,
  { approve, reason }: Decision,
  by: string,
): Promise<T> =>
  api.post(`${callPath(run, call)}/${approve ? 'approve' : 'deny'}`, { by, ...(reason ? { reason } : {}) });

/** Gives a waiting call its result: JSON, or else text. */
export const resolve = <T>(api: Api, run: RunName, call: string, result: string, by: string): Promise<T> =>
  api.post(`${callPath(run, call)}/resolve`, { result: jsonOr(result), by });

/**
 * Applies the answers of the client's user to what a run waits for, and returns the keys it has left open. Answers to
 * what has ended meanwhile are ignored: the first decision counts, wherever it was made.
 *
 * @throws LanefoldError `invalid_input` for an answer that does not fit its question, `forbidden`
 */
export async function respond(
  api: Api,
  run: RunJson,
  responses: Record<string, unknown>,
  by: string,
): Promise<ReadonlySet<string>> {
  const left = new Set<string>();
  const name = { thread_id: run.thread_id, run_id: run.id };
  for (const open of openCalls(run)) {
    if (!Object.hasOwn(responses, keyOf(open))) continue;
    const acted = await act(api, name, open, responses, by).catch((error: unknown) => {
      if (isLanefoldError(error, 'already_decided') || isLanefoldError(error, 'not_awaiting_approval')) return true;
      throw error;
    });
    if (!acted) left.add(keyOf(open));
  }
  return left;
}

async function act(
  api: Api,
  run: RunName,
  open: OpenCall,
  responses: Record<string, unknown>,
  by: string,
): Promise<boolean> {
  const view = inputResponse(responses, keyOf(open));
  if (view.kind !== 'elicit') throw unfit(open, 'is not the answer to a form');
  const { action, content = {} } = view;
  // dismissed without a choice
  if (action === 'cancel') return false;
  if (open.kind === 'approval') {
    const { approve = false, reason } = action === 'decline' ? {} : content;
    if (typeof approve !== 'boolean') throw unfit(open, 'must have approve: true or false');
    if (reason !== undefined && typeof reason !== 'string') throw unfit(open, 'has a reason that is not text');
    await decide(api, run, open.call, { approve, reason }, by);
    return true;
  }
  // the event may still be sent
  if (action === 'decline') return false;
  if (typeof content['result'] !== 'string') throw unfit(open, 'must have a result, which is text');
  await resolve(api, run, open.call, content['result'], by);
  return true;
}

const unfit = (open: OpenCall, why: string): LanefoldError =>
  new LanefoldError('invalid_input', `The answer to ${keyOf(open)} ${why}.`, {
    hint: 'Nothing was decided. Answer it again with lanefold_decide or lanefold_resolve.',
  });

function jsonOr(text: string): unknown {
  try {
    return parseJson(text) as unknown;
  } catch {
    return text;
  }
}

/** A person reads it in a dialog. */
const maxArgumentChars = 2_000;

/** Unique within a run, as a task must not ask twice under one key. */
const keyOf = ({ kind, call }: OpenCall): string => `${kind}:${call}`;

/** The questions to the client's user about what a run waits for and the caller may end, by key; undefined: there are no questions. */
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
    message: `The tool ${tool} of the agent ${agent} waits for the event ${event}. To continue without it, enter its result.`,
    requestedSchema: {
      type: 'object',
      properties: { result: { type: 'string', title: 'Result', description: 'What the call returns: text or JSON.' } },
      required: ['result'],
    },
  });

const shorten = (text = 'nothing'): string =>
  text.length <= maxArgumentChars ? text : `${text.slice(0, maxArgumentChars).toWellFormed()}…`;

/** The extension of tasks, as its specification names it. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** What the client of a request says about itself. */
export interface ClientAbilities {
  /** It can ask its user to fill in a form. */
  elicits: boolean;
  /** It can poll a task. */
  tasks: boolean;
  /** For the log. */
  name: string;
}

interface Capabilities {
  elicitation?: { form?: unknown; url?: unknown };
  extensions?: Record<string, unknown>;
}

/**
 * Since revision 2026-07-28, clients declare their abilities with each request; before, they did once for a connection.
 * A client of an earlier revision that connects over HTTP has declared no capability here, because no connection is kept.
 */
export function clientOf({ server }: McpServer, { mcpReq: { envelope = {} } }: ServerContext): ClientAbilities {
  const sent = envelope as Record<string, unknown>;
  const { elicitation, extensions } = (sent[CLIENT_CAPABILITIES_META_KEY] ??
    server.getClientCapabilities() ??
    {}) as Capabilities;
  const info = (sent[CLIENT_INFO_META_KEY] ?? server.getClientVersion()) as { name?: unknown } | undefined;
  return {
    // before forms and URLs were told apart, the capability had no fields and meant forms
    elicits: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    tasks: CLIENT_CAPABILITIES_META_KEY in sent && Object.hasOwn(extensions ?? {}, tasksExtension),
    name: typeof info?.name === 'string' ? `MCP client ${info.name.slice(0, 200)}` : 'MCP client',
  };
}
