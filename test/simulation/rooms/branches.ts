import type { Room } from './rooms.ts';

/**
 * Conversations that branch, beside all that happens on their threads: runs that wait for limits and approvals, that are handed
 * over, and that compact their lane.
 */
export const branching: Room = {
  name: 'branches',
  calls: [
    {
      name: 'branch',
      share: 3,
      async ask(client, { name, thread, random }) {
        const { library, runs } = client;
        const { rev } = await library.threads.peek(thread);
        const asks = random.pick(['nothing', 'anew', 'anew', 'again'] as const);
        const agent = random.pick(['agent', 'other']);
        const options = {
          afterSeq: random.int(-1, rev - 1),
          opId: `branch-${name}`,
          busy: random.pick(['reject', 'wait', 'wait', 'interrupt'] as const),
          show: random.chance(0.8),
          ...(asks === 'nothing' ? {} : { agent }),
          ...(asks === 'anew' ? { input: `go ${name}` } : {}),
        };
        const made = await client.twice(random, () => library.threads.branch(thread, options));
        if (made.run) runs.push(made.run);
      },
    },
    {
      name: 'edit',
      share: 2,
      // a question of the thread, or another answer to it
      async ask(client, { name, thread, random }) {
        const { library, runs } = client;
        const { data } = await library.threads.tree(thread, { limit: 1_000 });
        const questions = data.filter(({ role }) => role === 'user');
        if (questions.length === 0) return;
        const { seq, parentSeq } = random.pick(questions);
        const edits = random.chance(0.5);
        const made = await client.twice(random, () =>
          library.threads.branch(thread, {
            afterSeq: edits ? (parentSeq ?? -1) : seq,
            opId: `edit-${name}`,
            busy: random.pick(['wait', 'interrupt'] as const),
            agent: 'agent',
            ...(edits ? { input: `go ${name}` } : {}),
          }),
        );
        runs.push(made.run!);
      },
    },
    {
      name: 'show branch',
      share: 1,
      async ask({ library }, { thread, random }) {
        const lanes = await library.threads.branches(thread);
        if (lanes.length > 0) await library.contexts.switch(thread, random.pick(lanes).contextRef);
      },
    },
  ],
  never: {
    'a-branch-begins-where-it-left': `
      select format('%s of %s has %s messages at its anchor, and its parent %s', l.context_ref, l.thread_id, a.n, b.n) from lanefold._lane l,
        lateral (select count(*) n, string_agg(m.role || m.content::text, ' ' order by m.ordinal) said
          from lanefold._lane_messages(l.thread_id, l.context_ref, l.branch_seq) m) a,
        lateral (select count(*) n, string_agg(m.role || m.content::text, ' ' order by m.ordinal) said
          from lanefold._lane_messages(l.thread_id, l.parent_ref, l.after_seq) m) b
      where l.branch_seq is not null and (a.n, a.said) is distinct from (b.n, b.said)`,
    'a-branch-is-the-first-of-its-lane': `
      select format('%s of %s has entry %s before its anchor %s', l.context_ref, l.thread_id, e.seq, l.branch_seq) from lanefold._lane l
      join lanefold._entry e on e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.seq < l.branch_seq
        and e.kind <> 'ai_config_change'
      where l.branch_seq is not null`,
    'an-answer-has-a-question': `
      select format('%s of %s answers entry %s, a %s', r.id, r.thread_id, e.seq, e.role) from lanefold._run r
      join lanefold._entry e on e.thread_id = r.thread_id and e.seq = (r.options ->> 'answers')::bigint
      where e.role is distinct from 'user' or r.user_seq is not null`,
    'the-log-says-what-is-shown': `
      select format('%s shows %s, and its log says %s', t.id, t.active_context_ref, s.ref) from lanefold.thread t,
        lateral (select lanefold._active_lane_at(t.id, t.rev - 1) as ref) s
      where t.rev > 0 and s.ref <> t.active_context_ref`,
    'a-waiting-branch-is-not-shown': `
      select format('%s of %s waits, and its branch %s was shown', r.id, r.thread_id, r.context_ref) from lanefold._run r
      join lanefold._lane l on l.thread_id = r.thread_id and l.context_ref = r.context_ref
      join lanefold._entry e on e.thread_id = l.thread_id and e.seq = l.branch_seq
      where r.status = 'waiting' and r.options ? 'shows' and (e.payload #> '{operation,meta,branch,shown}' is distinct from 'false'
        or exists (select from lanefold.context_op o where o.thread_id = r.thread_id and o.op_id = 'show/' || r.context_ref))`,
    'a-run-of-a-branch-has-shown-it': `
      select format('%s of %s is %s, and its branch %s was never shown', r.id, r.thread_id, r.status, r.context_ref) from lanefold._run r
      where r.options ? 'shows' and r.active
        and not exists (select from lanefold.context_op o where o.thread_id = r.thread_id and o.op_id = 'show/' || r.context_ref)`,
  },
  pending: {
    'no-branch-waits-to-be-shown': `
      select format('%s waits to show %s', id, pending_branch) from lanefold.thread where pending_branch is not null and active_run_id is null`,
  },
};
