import type { Stacks } from './samples.ts';

/** What a stack counts as: the first one that fits any of its frames. */
const kinds: readonly (readonly [what: string, fits: RegExp])[] = [
  ['garbage collection', /Scaveng|MarkCompact|MinorGC|GarbageCollect|v8::internal::.*Heap::/],
  ['disk: the log', /XLogFlush|XLogWrite|issue_xlog_fsync|fdatasync/],
  ['notifications', /AtCommit_Notify|PreCommit_Notify|Async_Notify|ProcessNotifyInterrupt|asyncQueue/],
  ['parsing and planning', /pg_parse_query|pg_analyze|pg_plan_quer|standard_planner|GetCachedPlan/],
  ['writing rows and indexes', /heap_(insert|update|delete|multi_insert)|btinsert|ExecInsertIndexTuples|XLogInsert/],
  ['triggers', /ExecCallTriggerFunc|AfterTriggerEndQuery/],
  ['JSON', /jsonb?_|JsonEncode|datum_to_json/],
  ['reading rows', /index_getnext|IndexNext|heap_fetch|SeqNext|ExecIndexScan|heapam_/],
  ['functions in PL/pgSQL', /plpgsql_/],
  ['executing the rest of statements', /PortalRun|ExecutorRun/],
  ['transactions', /CommitTransaction|StartTransaction|ResourceOwnerRelease/],
  ['pg, the client of PostgreSQL', / in (pg|pg-protocol|pg-pool)$/],
  ['BullMQ', / in (bullmq|ioredis|@ioredis\/.*)$/],
  ['Lanefold', / in lanefold$/],
  ['other packages', / in (?!node:)\S+$/],
  ['sockets and waking up', /^kernel .*(tcp|sock|epoll|poll|futex|schedule|wake)|uv__/],
  ['Node', / in node:/],
];

/** How large a part of all samples each kind is, the largest first. */
export function sharesOf(stacks: Stacks): [what: string, share: number][] {
  const counts: Record<string, number> = {};
  let all = 0;
  for (const [stack, count] of stacks) {
    const what = kindOf(stack.split(';'));
    counts[what] = (counts[what] ?? 0) + count;
    all += count;
  }
  return Object.entries(counts)
    .map(([what, count]): [string, number] => [what, count / all])
    .toSorted(([, a], [, b]) => b - a);
}

const kindOf = (frames: readonly string[]): string =>
  kinds.find(([, fits]) => frames.some((frame) => fits.test(frame)))?.[0] ?? 'other';
