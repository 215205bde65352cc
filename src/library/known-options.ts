import { refuseUnknownKeys, type KeysOf } from '../checks/unknown-keys.ts';
import type { Contexts, DiffedContext, ProjectOptions } from './contexts/contexts.ts';
import type { PolicyView } from './contexts/project.ts';
import type { AuditLog, ApiKeys } from './access/keys.ts';
import type { Library, TenantLibrary } from './library.ts';
import type { Cases, Evals } from './evals/types.ts';
import type { Limits } from './limits/limits.ts';
import type { Schedules } from './schedules/schedules.ts';
import type { Monitors } from './monitors/types.ts';
import type { Webhooks } from './webhooks/types.ts';
import type { Runs } from './runs/runs.ts';
import type { Events } from './waits/events.ts';
import type { Waits } from './waits/waits.ts';
import type { Threads } from './threads/types.ts';
import type { Rollouts } from './agents/rollouts.ts';
import type { AgentVersions } from './agents/versions.ts';
import type { Workers } from './fleet/workers.ts';

/** The keys of all members of a union. */
type AnyKeys<Union> = Record<Union extends unknown ? keyof Union : never, true>;
/** The options that the argument at this position takes. */
type Takes = readonly [position: number, keys: Record<string, true>];
type Options<Method extends (...args: never) => unknown, Position extends number> = KeysOf<
  NonNullable<Parameters<Method>[Position]>
>;

/** The parts of the library whose methods are listed here. */
interface Parts {
  threads: Threads;
  runs: Runs;
  contexts: Contexts;
  keys: ApiKeys;
  limits: Limits;
  schedules: Schedules;
  webhooks: Webhooks;
  cases: Cases;
  evals: Evals;
  monitors: Monitors;
  audit: AuditLog;
  events: Events;
  waits: Waits;
  approvals: TenantLibrary['approvals'];
  agents: AgentVersions & Rollouts;
  workers: Workers;
  tenants: Library['tenants'];
  library: Pick<Library, 'activity'>;
}

/** For a method that takes no options, or that checks its options itself. */
const none: readonly Takes[] = [];

const page = { after: true, limit: true } as const;
const place = { contextRef: true, atSeq: true } as const;
const period = { createdAfter: true, createdBefore: true } as const;
const log = { ...page, kind: true, contextRef: true } as const;
const caller = { caller: true } as const;
const whose = { from: true } as const;
const owner = { tenant: true, by: true } as const;
const enqueued = { tx: true, from: true, caller: true } satisfies Options<Runs['enqueue'], 1>;
const operation = {
  ...{ opId: true, reason: true, expectedRev: true, baseSeq: true, meta: true, repair: true },
} as const satisfies Options<Contexts['switch'], 2>;
const diffed = { threadId: true, ...place } as const satisfies KeysOf<DiffedContext>;
const input = {
  ...{ inputId: true, expectedRequestId: true, runId: true, source: true, extraRefs: true },
  // rejected with a specific error, by sendInput
  role: true,
} satisfies Options<Runs['steer'], 2> & { role: true };

/** The options of every method of the library; a missing one does not compile. */
const knownOptions = {
  threads: {
    ...{ get: none, peek: none, marks: none, erase: none, export: none },
    // the stream checks its options when it opens
    stream: none,
    create: [
      [0, { id: true, tenantId: true, systemPrompt: true, metadata: true } satisfies Options<Threads['create'], 0>],
      [1, whose satisfies Options<Threads['create'], 1>],
    ],
    fork: [
      [
        1,
        {
          ...{ id: true, seq: true, contextRef: true, metadata: true, systemPrompt: true, repair: true },
        } satisfies Options<Threads['fork'], 1>,
      ],
      [2, whose satisfies Options<Threads['fork'], 2>],
    ],
    import: [
      [1, { id: true, metadata: true } satisfies Options<Threads['import'], 1>],
      [2, whose satisfies Options<Threads['import'], 2>],
    ],
    list: [
      [
        0,
        {
          ...page,
          ...period,
          tenantId: true,
          metadata: true,
          agent: true,
          status: true,
          text: true,
          order: true,
          marks: true,
        } satisfies Options<Threads['list'], 0>,
      ],
    ],
    append: [[2, { expectedRev: true, idempotencyKey: true, repair: true } satisfies Options<Threads['append'], 2>]],
    entries: [[1, log satisfies Options<Threads['entries'], 1>]],
    entryPage: [[1, { ...log, maxBytes: true } satisfies Options<Threads['entryPage'], 1>]],
    readContent: [[2, { offset: true, length: true } satisfies Options<Threads['readContent'], 2>]],
    agUiSnapshot: [[1, { contextRef: true, before: true } satisfies Options<Threads['agUiSnapshot'], 1>]],
    uiMessages: [[1, { ...page, contextRef: true } satisfies Options<Threads['uiMessages'], 1>]],
    config: [[1, place satisfies Options<Threads['config'], 1>]],
    configure: [
      [
        1,
        {
          ...{ systemPrompt: true, toolContext: true, registerTools: true, unregisterTools: true },
          ...{ contextPolicy: true, contextRef: true },
        } satisfies Options<Threads['configure'], 1>,
      ],
      [2, { ...whose, by: true } satisfies Options<Threads['configure'], 2>],
    ],
    events: [[1, page satisfies Options<Threads['events'], 1>]],
    eraseTenant: [[1, { limit: true } satisfies Options<Threads['eraseTenant'], 1>]],
  },
  runs: {
    ...{ get: none, cancel: none, ranOnly: none, stream: none, streamTree: none, tree: none },
    enqueue: [[1, enqueued]],
    enqueueMany: [[1, enqueued satisfies Options<Runs['enqueueMany'], 1>]],
    retry: [
      [1, { model: true, busy: true, freshChildren: true, requestId: true } satisfies Options<Runs['retry'], 1>],
      [2, caller satisfies Options<Runs['retry'], 2>],
    ],
    rerun: [
      [
        1,
        {
          ...{
            threadId: true,
            version: true,
            model: true,
            systemPrompt: true,
            contextPolicy: true,
            freshChildren: true,
          },
          ...{ metadata: true, requestId: true },
        } satisfies Options<Runs['rerun'], 1>,
      ],
      [2, { ...caller, ...whose } satisfies Options<Runs['rerun'], 2>],
    ],
    unfinished: [[0, { caller: true, tenant: true } satisfies AnyKeys<Parameters<Runs['unfinished']>[0]>]],
    wait: [[1, { timeoutMs: true, signal: true, onUnattended: true } satisfies Options<Runs['wait'], 1>]],
    list: [
      [
        0,
        {
          ...{ ...page, ...period, threadId: true, status: true, agent: true, model: true },
          ...{ errorType: true, minTokens: true, marks: true },
        } satisfies Options<Runs['list'], 0>,
      ],
    ],
    events: [[1, page satisfies Options<Runs['events'], 1>]],
    nodes: [[1, page satisfies Options<Runs['nodes'], 1>]],
    inputs: [[1, page satisfies Options<Runs['inputs'], 1>]],
    steer: [[2, input]],
    inject: [[2, input]],
    approve: [[2, { by: true, reason: true } satisfies Options<Runs['approve'], 2>]],
    deny: [[2, { by: true, reason: true } satisfies Options<Runs['deny'], 2>]],
    checkpoint: [[1, { expiresInMs: true } satisfies Options<Runs['checkpoint'], 1>]],
    resume: [
      [1, { query: true, requestId: true } satisfies Options<Runs['resume'], 1>],
      [2, caller satisfies Options<Runs['resume'], 2>],
    ],
    collect: [[1, { runUntilTerminal: true, timeoutMs: true, signal: true } satisfies Options<Runs['collect'], 1>]],
  },
  contexts: {
    ...{ call: none, lanes: none },
    project: [
      [
        1,
        {
          ...place,
          limit: true,
          policy: true,
          model: true,
          agent: true,
          fullBudget: true,
          explain: true,
        } satisfies KeysOf<ProjectOptions & PolicyView>,
      ],
    ],
    replace: [
      [1, { systemPrompt: true, id: true, entries: true } satisfies Options<Contexts['replace'], 1>],
      [2, { ...operation, contextRef: true } satisfies Options<Contexts['replace'], 2>],
      [3, whose satisfies Options<Contexts['replace'], 3>],
    ],
    compact: [
      [
        1,
        {
          ...{ contextRef: true, range: true, keepTurns: true, agent: true, model: true },
        } satisfies Options<Contexts['compact'], 1>,
      ],
      [2, { ...caller, ...whose } satisfies Options<Contexts['compact'], 2>],
    ],
    reset: [[1, { ...operation, contextRef: true } satisfies Options<Contexts['reset'], 1>]],
    diff: [
      [0, diffed],
      [1, diffed],
    ],
    replayCall: [
      [
        2,
        { model: true, systemPrompt: true, contextPolicy: true, signal: true } satisfies Options<
          Contexts['replayCall'],
          2
        >,
      ],
      [3, whose satisfies Options<Contexts['replayCall'], 3>],
    ],
    switch: [[2, operation]],
  },
  keys: {
    ...{ list: none, get: none, find: none, holder: none },
    // these check their one argument themselves
    ...{ create: none, browserToken: none },
    rotate: [[1, { overlapMs: true, by: true } satisfies Options<ApiKeys['rotate'], 1>]],
    revoke: [[1, { by: true } satisfies Options<ApiKeys['revoke'], 1>]],
  },
  limits: {
    ...{ list: none, totals: none },
    set: [[2, owner satisfies Options<Limits['set'], 2>]],
    remove: [[1, owner satisfies Options<Limits['remove'], 1>]],
    usage: [[0, { name: true, limit: true } satisfies Options<Limits['usage'], 0>]],
  },
  schedules: {
    list: [[0, { after: true, limit: true } satisfies Options<Schedules['list'], 0>]],
    set: [[2, { ...owner, from: true } satisfies Options<Schedules['set'], 2>]],
    remove: [[1, owner satisfies Options<Schedules['remove'], 1>]],
    pause: [[1, owner satisfies Options<Schedules['pause'], 1>]],
    resume: [[1, owner satisfies Options<Schedules['resume'], 1>]],
    get: [[1, { tenant: true } satisfies Options<Schedules['get'], 1>]],
    slots: [[1, { tenant: true, after: true, limit: true } satisfies Options<Schedules['slots'], 1>]],
  },
  webhooks: {
    list: none,
    set: [[2, owner satisfies Options<Webhooks['set'], 2>]],
    remove: [[1, owner satisfies Options<Webhooks['remove'], 1>]],
    pause: [[1, owner satisfies Options<Webhooks['pause'], 1>]],
    resume: [[1, owner satisfies Options<Webhooks['resume'], 1>]],
    test: [[1, owner satisfies Options<Webhooks['test'], 1>]],
    rotate: [[1, { ...owner, keepMs: true } satisfies Options<Webhooks['rotate'], 1>]],
    get: [[1, { tenant: true } satisfies Options<Webhooks['get'], 1>]],
    deliveries: [[1, { tenant: true, status: true, limit: true } satisfies Options<Webhooks['deliveries'], 1>]],
    replay: [[1, { ...owner, id: true, since: true } satisfies Options<Webhooks['replay'], 1>]],
  },
  cases: {
    // export yields, and refuses what it does not take itself
    ...{ get: none, update: none, datasets: none, export: none },
    keep: [[1, { by: true } satisfies Options<Cases['keep'], 1>]],
    list: [[0, { ...page, dataset: true, tag: true, split: true } satisfies Options<Cases['list'], 0>]],
    import: [[2, owner satisfies Options<Cases['import'], 2>]],
    remove: [[1, { by: true } satisfies Options<Cases['remove'], 1>]],
  },
  monitors: {
    ...{ list: none },
    set: [[2, owner satisfies Options<Monitors['set'], 2>]],
    get: [[1, { tenant: true } satisfies Options<Monitors['get'], 1>]],
    remove: [[1, owner satisfies Options<Monitors['remove'], 1>]],
    scores: [[1, { ...page, tenant: true, below: true } satisfies Options<Monitors['scores'], 1>]],
  },
  evals: {
    get: none,
    run: [[1, { ...owner, from: true } satisfies Options<Evals['run'], 1>]],
    list: [[0, page satisfies Options<Evals['list'], 0>]],
    items: [[1, { ...page, caseId: true } satisfies Options<Evals['items'], 1>]],
    report: [[1, { baseline: true, seed: true, resamples: true } satisfies Options<Evals['report'], 1>]],
    wait: [[1, { timeoutMs: true, signal: true } satisfies Options<Evals['wait'], 1>]],
    cancel: [[1, { by: true } satisfies Options<Evals['cancel'], 1>]],
    rescore: [[1, { by: true } satisfies Options<Evals['rescore'], 1>]],
    remove: [[1, { by: true } satisfies Options<Evals['remove'], 1>]],
  },
  audit: {
    ...{ write: none, writeRead: none },
    list: [[0, { afterNo: true, threadId: true, tenantId: true, limit: true } satisfies Options<AuditLog['list'], 0>]],
  },
  events: {
    send: [[2, { keepMs: true, by: true } satisfies Options<Events['send'], 2>]],
    sendSigned: none,
    token: [[1, { expiresMs: true, keepMs: true } satisfies Options<Events['token'], 1>]],
  },
  waits: {
    list: [[0, { ...page, event: true, kind: true, threadId: true } satisfies Options<Waits['list'], 0>]],
    release: [[2, { result: true, error: true, by: true } satisfies Options<Waits['release'], 2>]],
  },
  approvals: { list: [[0, page satisfies Options<TenantLibrary['approvals']['list'], 0>]] },
  agents: {
    ...{ versions: [[1, { hours: true } satisfies Options<AgentVersions['versions'], 1>]], diff: none, rollouts: none },
    setRollout: [[2, { by: true } satisfies Options<Rollouts['setRollout'], 2>]],
    removeRollout: [[1, { by: true } satisfies Options<Rollouts['removeRollout'], 1>]],
    moveThread: [[3, { by: true } satisfies Options<Rollouts['moveThread'], 3>]],
  },
  workers: { list: [[0, { hours: true } satisfies Options<Workers['list'], 0>]] },
  library: { activity: [[0, { hours: true } satisfies Options<Library['activity'], 0>]] },
  tenants: {
    limits: none,
    list: none,
    configure: [[2, { by: true } satisfies Options<Library['tenants']['configure'], 2>]],
  },
} satisfies { [Part in keyof Parts]: Record<keyof Parts[Part], readonly Takes[]> };

/**
 * Makes the methods of a part of the library reject options they do not take: most are typos, and an ignored option
 * would change the answer silently.
 */
export function refusingOptions<Methods extends object>(part: keyof typeof knownOptions, methods: Methods): Methods {
  const own = methods as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const refusing: typeof own = {};
  const methodsOf: Record<string, readonly Takes[]> = knownOptions[part];
  for (const [name, takes] of Object.entries(methodsOf)) {
    if (takes.length === 0) continue;
    const method = own[name]!;
    refusing[name] = async (...args) => {
      for (const [position, keys] of takes) {
        const given = args[position];
        if (typeof given === 'object' && given !== null) refuseUnknownKeys(`${part}.${name}`, given, keys);
      }
      return method(...args);
    };
  }
  return { ...methods, ...refusing };
}
