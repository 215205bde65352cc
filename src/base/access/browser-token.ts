import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { LanefoldError } from '../errors.ts';
import { may, type Principal, type Scope } from './principal.ts';
import { parseJson } from '../common/json.ts';

const prefix = 'lft_';

/** `read`: see a thread or a run. `chat`: also ask, steer and cancel in it. `approve`: also decide on its tool calls. */
export type BrowserAccess = 'read' | 'chat' | 'approve';

const scopesOf: Record<BrowserAccess, readonly Scope[]> = {
  read: ['read'],
  chat: ['read', 'run', 'steer'],
  approve: ['read', 'run', 'steer', 'approve'],
};

/** The conversation and its runs. Not the log, contexts and calls, which contain prompts and the tool context. */
const reads = {
  getThread: [],
  listUiMessages: [],
  readContent: [],
  listThreadEvents: [],
  listRuns: [],
  getRun: [],
  listRunEvents: [],
  listInputs: [],
  readThreadTrace: [],
  readRunTrace: [],
  // what applications write for their pages
  readThreadStream: [],
};

const asks = {
  createRun: ['agent', 'input', 'request_id', 'busy', 'create_thread'],
  steerRun: ['content', 'input_id', 'expected_request_id'],
  cancelRun: ['reason'],
  // at a message of the conversation: what an entry holds may not be the user's to see
  branchThread: ['message_id', 'agent', 'input', 'op_id', 'busy'],
  showLane: ['op_id'],
  // not interrupts: answering those takes a key
  runAgUi: [
    'threadId',
    'runId',
    'parentRunId',
    'protocolVersion',
    'messages',
    'tools',
    'context',
    'state',
    'forwardedProps',
    'resume',
  ],
};

/**
 * The operations of a token by `operationId`, each with the fields it may send. New operations and fields are rejected
 * until they are listed here.
 */
const operationsOf: Record<BrowserAccess, NonNullable<Principal['operations']>> = {
  read: reads,
  chat: { ...reads, ...asks },
  approve: { ...reads, ...asks, approveToolCall: ['reason'], denyToolCall: ['reason'] },
};

/** The content of a token. It is signed, not encrypted. */
const Payload = z.strictObject({
  access: z.enum(['read', 'chat', 'approve']),
  thread_id: z.string(),
  run_id: z.string().optional(),
  tenant: z.string().optional(),
  agents: z.array(z.string()).optional(),
  /** The limits of the key that made it; the token's actions count as the key's. */
  limits: z
    .strictObject({
      requestsPerMinute: z.number().optional(),
      runs: z.number().optional(),
      streams: z.number().optional(),
      bodyBytes: z.number().optional(),
    })
    .optional(),
  by: z.string(),
  exp_ms: z.number(),
});

export type BrowserToken = z.infer<typeof Payload>;

export const isBrowserToken = (text: string): boolean => text.startsWith(prefix);

/** `lft_<payload>.<HMAC-SHA256>`, both base64url. */
export function signBrowserToken(token: BrowserToken, secret: string): string {
  const payload = Buffer.from(JSON.stringify(token)).toString('base64url');
  return `${prefix}${payload}.${hmac(payload, secret).toString('base64url')}`;
}

/** The principal of a token. @throws LanefoldError `unauthorized` if it is altered or has expired */
export function readBrowserToken(text: string, secrets: readonly string[], nowMs: number): Principal {
  const [payload = '', signature = ''] = text.slice(prefix.length).split('.');
  const given = Buffer.from(signature, 'base64url');
  const genuine = secrets.some((secret) => {
    const expected = hmac(payload, secret);
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  if (!genuine) throw tokenRefused('has a signature that matches no secret of this server');
  const token = Payload.parse(parseJson(Buffer.from(payload, 'base64url').toString('utf8')));
  if (token.exp_ms <= nowMs) throw tokenRefused('has expired');
  const { thread_id: threadId, run_id: runId, tenant, agents, limits, by, access } = token;
  return {
    actor: `token:${by}`,
    scopes: scopesOf[access],
    operations: operationsOf[access],
    expiresAtMs: token.exp_ms,
    threadId,
    ...(runId === undefined ? {} : { runId }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(agents === undefined ? {} : { agents }),
    ...(limits === undefined ? {} : { limits }),
  };
}

/** Rejects a token with rights that its key lacks. @throws LanefoldError `forbidden` */
export function assertMayMint(principal: Principal, access: BrowserAccess, agents: readonly string[] = []): void {
  const stranger = principal.agents && agents.find((agent) => !principal.agents!.includes(agent));
  if (stranger !== undefined) {
    throw new LanefoldError('forbidden', `A token for the agent ${stranger} needs a key that may use it.`, {
      hint: `This key is limited to the agents ${principal.agents!.join(', ')}.`,
    });
  }
  const missing = scopesOf[access].find((scope) => !may(principal, scope));
  if (missing === undefined) return;
  throw new LanefoldError('forbidden', `A token for ${access} needs the scope ${missing}, which this key lacks.`, {
    hint: `Use a key with the scopes ${scopesOf[access].join(', ')}.`,
  });
}

/** The prefix keeps the signature from being valid for a checkpoint token, which is signed with the same secrets. */
const hmac = (payload: string, secret: string): Buffer =>
  createHmac('sha256', secret).update(`${prefix}${payload}`).digest();

export const tokenRefused = (why: string): LanefoldError =>
  new LanefoldError('unauthorized', `The token ${why}.`, {
    hint: 'Ask your backend for a new one, which it creates with POST /v1/tokens.',
  });
