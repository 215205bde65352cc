import { computed, signal } from '@preact/signals';
import type { Branch, BranchList, Entry, TreeMessage, TreePage } from '../api/types.ts';

/** In the address of a view, in place of a lane: the log of all lanes. No lane can have this name. */
export const allLanes = '*';

const pageSize = 1_000;

/** Reads a part of the thread. */
type Read = <T>(part: string, query?: Record<string, number>) => Promise<T>;

/** The lanes of a thread as a tree, and its messages that have other versions. */
export class Branches {
  readonly lanes = signal<Branch[]>([]);
  readonly messages = signal<TreeMessage[]>([]);
  /** Whether a lane has left another one. */
  readonly any = computed(() => this.lanes.value.some(({ parent_context_ref: parent }) => parent !== null));
  /** The versions of a message in the order of the log, by the `seq` of each; none for a message without others. */
  readonly versions = computed(() => versionsOf(this.lanes.value, this.messages.value));
  /** Also the messages before the first branch, which have no other versions. */
  whole = false;
  #rev = -1;
  #first = Infinity;

  constructor(
    readonly read: Read,
    readonly fail: (error: unknown) => void,
  ) {}

  /** Reads the lanes of a thread that has `rev` entries. Its messages follow, because the thread is shown without them. */
  async refresh(rev: number): Promise<void> {
    if (rev <= this.#rev) return;
    this.lanes.value = (await this.read<BranchList>('branches')).data;
    if (this.any.value || this.whole) void this.#readMessages(rev).catch(this.fail);
    else this.#rev = rev;
  }

  async #readMessages(rev: number): Promise<void> {
    const left = this.lanes.value.flatMap(({ parent_context_ref: of, parent_seq: seq }) =>
      of === null ? [] : (seq ?? -1),
    );
    const first = this.whole ? -1 : Math.min(...left);
    // a branch that leaves before all others: earlier messages have other versions now
    let found = first < this.#first ? [] : this.messages.value;
    for (let after: number | null = found.at(-1)?.seq ?? first; after !== null;) {
      const page: TreePage = await this.read('tree', { after, limit: pageSize });
      found = [...found, ...page.data];
      after = page.next_after;
    }
    // another read may have ended before this one
    if (rev <= this.#rev) return;
    this.#rev = rev;
    this.#first = first;
    this.messages.value = found;
  }
}

/** A branch with a run that the reader is about to make. */
export interface Draft {
  /** The question that is edited, or the answer in place of which another one is wanted. */
  of: Entry;
  /** The last entry whose context the branch has. */
  after: number;
  /** What the edited question says so far; undefined: the question stays. */
  text?: string;
}

/** The entries of a lane that are part of a branch: those from `from` to `to`. */
interface Stretch {
  from: number;
  to: number;
}

/** A branch by its lanes: its own, and each one that it left, up to where. */
export type Path = ReadonlyMap<string, Stretch>;

/** The lanes of a branch. How an earlier branch began is no part of it. */
export function pathOf(lanes: Branch[], lane: string): Path {
  const path = new Map<string, Stretch>();
  let to = Infinity;
  for (let name: string | null = lane; name !== null && !path.has(name);) {
    const found: Branch | undefined = lanes.find(({ context_ref: ref }) => ref === name);
    path.set(name, { from: path.size === 0 ? -1 : (found?.branch_seq ?? -1) + 1, to });
    to = Math.min(to, found?.branched_after_seq ?? -1);
    name = found?.parent_context_ref ?? null;
  }
  return path;
}

/** Where something stands in the log. */
export type Placed = Pick<TreeMessage | Entry, 'context_ref' | 'seq'>;

/** Whether an entry is part of a branch. An entry without a lane concerns all of them. */
export function holds(path: Path, { context_ref: lane, seq }: Placed): boolean {
  if (lane === null) return true;
  const stretch = path.get(lane);
  return stretch !== undefined && stretch.from <= seq && seq <= stretch.to;
}

/** A lane as of an entry: before a branch began, the lane that it left. */
export function laneAt(lanes: Branch[], lane: string, at: number): string {
  const found = lanes.find(({ context_ref: ref }) => ref === lane);
  if (!found?.parent_context_ref || found.branch_seq! <= at) return lane;
  return laneAt(lanes, found.parent_context_ref, at);
}

/** The branch that shows a message: of those that have it, the one that was written to last. */
export const branchOf = (lanes: Branch[], message: TreeMessage): string =>
  lanes
    .filter(({ context_ref: lane }) => holds(pathOf(lanes, lane), message))
    .sort((one, other) => other.last_seq - one.last_seq)[0]?.context_ref ?? message.context_ref;

/** Messages that follow the same one are versions of each other. */
function versionsOf(lanes: Branch[], messages: TreeMessage[]): ReadonlyMap<number, TreeMessage[]> {
  const roots = new Map(lanes.map(({ context_ref: lane, root_context_ref: root }) => [lane, root]));
  const groups = new Map<string, TreeMessage[]>();
  for (const message of messages) {
    const key = `${message.parent_seq}/${roots.get(message.context_ref)}`;
    const group = groups.get(key);
    if (group) group.push(message);
    else groups.set(key, [message]);
  }
  const several = [...groups.values()].filter(({ length }) => length > 1);
  return new Map(several.flatMap((group) => group.map(({ seq }) => [seq, group] as const)));
}
