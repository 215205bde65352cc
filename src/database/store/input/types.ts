// Generated from declaration.ts beside it: run `npm run types:api`.

import type { MessageContent } from '../../../agent/context/message.ts';

/** The run accepted the input. */
export interface InputReceipt {
  inputId: string;
  threadId: string;
  runId: string;
  /**
   * queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended
   * first.
   */
  status: 'queued' | 'injected' | 'dropped';
  /** true: the input had already been accepted. */
  duplicate: boolean;
}

/** Input sent to an active run. */
export interface RunInput {
  id: string;
  runId: string;
  /** Position among the inputs of the run, from 1. */
  ordinal: number;
  kind: 'steer' | 'inject';
  by: string;
  content: MessageContent;
  /**
   * queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended
   * first.
   */
  status: 'queued' | 'injected' | 'dropped';
  /** The entry of the resulting message. */
  entrySeq: number | null;
  /** When it was accepted. */
  createdAt: Date;
  /** When it became a message or was dropped. */
  settledAt: Date | null;
}
