import type { JsonObject } from '../../../agent/context/message.ts';

/** Something that an import could not carry over as it was. */
export interface ImportNote {
  /**
   * `left_out`: it is not in the thread. `changed`: it is there in another form. `repaired`: a tool call had no result,
   * and got an error result with `refs.kind` `repaired`.
   */
  outcome: 'left_out' | 'changed' | 'repaired';
  /** Where it is in the source, such as `items[3].content[0]`; for a repair, the tool call. */
  where: string;
  what: string;
}

export interface Configures {
  systemPrompt?: true;
  tools?: true;
  toolContext?: true;
  contextPolicy?: true;
}

/** A thread to import. Texts are JSON, written into the statement as they are. */
export interface PortableThread {
  format: 'lanefold' | 'openai' | 'ai-sdk' | 'langgraph';
  /** The id to give it, unless the caller names another one. */
  id?: string | undefined;
  metadata?: JsonObject | undefined;
  activeContextRef?: string;
  /** What it sets besides messages, of which an agent may forbid callers over HTTP. */
  sets: Configures;
  /** Objects: {seq, kind, payload, …}. */
  entries: string[];
  contents: { id: string; text: string }[];
  runs: string[];
  lanes: { context_ref: string; digest: string }[];
  origin?: { thread_id: string; tenant_id: string };
  /** Facts about the source, for the last entry of the thread. */
  facts: JsonObject;
  notes: ImportNote[];
  /** Identifies the source: importing the same again under the same id changes nothing. */
  hash: string;
}
