import { createHash } from 'node:crypto';
import { idGrammar } from '../../../base/checks/ids.ts';
import type { TenantLibrary } from '../../../features/library/library.ts';
import type { EnqueueOptions } from '../../../runs/operations/runs/enqueue.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import type { AgUiInput } from '../../../runs/formats/ag-ui/input.ts';

export type Busy = NonNullable<EnqueueOptions['busy']>;

/** A request of a client that may use its thread. */
export interface AgUiRequest {
  agent: string;
  /** The thread, whatever the client calls it. */
  threadId: string;
  input: AgUiInput;
  /** The lane of the conversation; default: the active one. */
  contextRef?: string | undefined;
  /** Accepts the run of a new question. With `busy: 'interrupt'`, it may cancel a run: `active`, as far as is known. */
  enqueue(options: EnqueueOptions, active?: string): Promise<RunHandle>;
  /** The names of the tools of an agent; undefined if this process does not know it. */
  toolsOf(agent: string): readonly string[] | undefined;
  /** What a question does while another run is active. */
  busy: Busy;
  /** Throws if the client may not approve calls, or release them from waiting for an event. */
  assertMay(what: 'approve' | 'release'): void;
  /** The library that gives an answer to an interrupt or a call, which audits it. */
  answering(action: 'approveToolCall' | 'denyToolCall' | 'releaseWait', runId: string): TenantLibrary;
  /** Who answers, for the log. */
  by: string | undefined;
}

const prefix = 'ag-ui:';

/** The request id of the run that an AG-UI run begins: repeating the request finds the same run. */
export function requestIdOf(runId: string): string {
  const id = prefix + runId;
  return idGrammar.test(id) ? id : prefix + createHash('sha256').update(runId).digest('hex');
}

/** Tools that the agent does not have: a client sends all of its tools to every agent. */
export function ignoredTools({ agent, input, toolsOf }: AgUiRequest): string[] {
  const known = input.tools.length > 0 ? toolsOf(agent) : undefined;
  return known ? input.tools.map(({ name }) => name).filter((name) => !known.includes(name)) : [];
}
