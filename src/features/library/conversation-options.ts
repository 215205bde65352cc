import type { KeysOf } from '../../base/checks/unknown-keys.ts';
import type { Contexts, DiffedContext, ProjectOptions } from '../../runs/operations/contexts/contexts.ts';
import type { PolicyView } from '../../runs/operations/contexts/project.ts';
import type { Threads } from '../../runs/operations/threads/types.ts';
import { none, page, whose, type Options, type Takes } from './option-keys.ts';

interface Conversation {
  threads: Threads;
  contexts: Contexts;
}

const place = { contextRef: true, atSeq: true } as const;
const period = { createdAfter: true, createdBefore: true } as const;
const log = { ...page, kind: true, contextRef: true } as const;
const caller = { caller: true } as const;
const operation = {
  ...{ opId: true, reason: true, expectedRev: true, baseSeq: true, meta: true, repair: true },
} as const satisfies Options<Contexts['switch'], 2>;
const diffed = { threadId: true, ...place } as const satisfies KeysOf<DiffedContext>;

/** The options of the methods of threads and contexts; a missing one does not compile. */
export const conversationOptions = {
  threads: {
    ...{ get: none, peek: none, marks: none, erase: none, export: none, runOf: none },
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
} satisfies { [Part in keyof Conversation]: Record<keyof Conversation[Part], readonly Takes[]> };
