import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';
import { isShownOn, type Parent } from './shown-path.ts';

/** The messages that follow the same message on different branches, as the reader of a branch sees them. */
export interface Versions {
  /** Which of them the branch has, from 1, in the order of the log. */
  place: number;
  /** A lane to show for each of them: the one that was last written to. */
  lanes: string[];
}

/** A message, or a branch that has no message of its own yet. */
interface Child {
  /** Null for a branch without messages. */
  seq: number | null;
  contextRef: string;
  parentSeq: number | null;
  /** Where it comes among the others. */
  at: number;
}

/** What a lane shows has other versions elsewhere. */
export interface VersionsOnLane {
  /** Of a message; undefined: it has no others. */
  of(seq: number): Versions | undefined;
  /** Of the answer that a branch begins with and that has no message. */
  ofSilence(): Versions | undefined;
}

/** Undefined for a thread without branches. */
export async function readVersionsOn(
  db: Database,
  threadId: string,
  lane: string,
  parents: ReadonlyMap<string, Parent>,
): Promise<VersionsOnLane | undefined> {
  if (parents.size === 0) return undefined;
  const [children, lanes] = await Promise.all([
    readRows<Child>(
      db,
      'versions_in_tree',
      `with silent as (
         select l.context_ref, l.parent_seq, l.branch_seq from lanefold._lane l
         where l.thread_id = $1 and l.branch_seq is not null and not exists (
           select from lanefold._entry e
           where e.thread_id = $1 and e.context_ref = l.context_ref and e.kind = 'ai_message')
       )
       select seq::float8, context_ref, parent_seq::float8, seq::float8 as at from lanefold.message_tree
       where thread_id = $1 and (siblings > 1 or parent_seq in (select parent_seq from silent) or parent_seq is null)
       union all
       select null, context_ref, parent_seq::float8, branch_seq::float8 from silent
       order by at`,
      [threadId],
    ),
    readRows<{ contextRef: string; lastSeq: number }>(
      db,
      'last_of_lanes',
      'select context_ref, last_seq::float8 from lanefold.lane_tree where thread_id = $1',
      [threadId],
    ),
  ]);
  const newest = lanes.sort((one, other) => other.lastSeq - one.lastSeq).map(({ contextRef }) => contextRef);
  const laneWith = ({ seq, contextRef }: Child): string =>
    (seq !== null && newest.find((each) => isShownOn(parents, each, { seq, contextRef }))) || contextRef;
  const versionsOf = (shown: Child | undefined): Versions | undefined => {
    if (!shown) return undefined;
    const root = rootOf(parents, shown.contextRef);
    const versions = children.filter(
      (child) => child.parentSeq === shown.parentSeq && rootOf(parents, child.contextRef) === root,
    );
    if (versions.length < 2) return undefined;
    return {
      place: versions.indexOf(shown) + 1,
      lanes: versions.map((version) => (version === shown ? lane : laneWith(version))),
    };
  };
  return {
    of: (seq) => versionsOf(children.find((child) => child.seq === seq)),
    ofSilence: () => versionsOf(children.find((child) => child.seq === null && child.contextRef === lane)),
  };
}

function rootOf(parents: ReadonlyMap<string, Parent>, lane: string): string {
  let root = lane;
  for (let parent = parents.get(root); parent; parent = parents.get(root)) root = parent.parentRef;
  return root;
}
