/** A problem in the log of a thread. It concerns the entries `seq` to `upto`, inclusive; null: the whole thread. */
export interface EvidenceFinding {
  threadId: string;
  seq: number | null;
  upto: number | null;
  /** See docs/run/evidence.md. */
  problem:
    | 'altered'
    | 'unsealed'
    | 'unproven'
    | 'missing'
    | 'cut_off'
    | 'added'
    | 'content_altered'
    | 'rewritten'
    | 'replaced'
    | 'moved'
    | 'tenant_changed'
    | 'removed'
    | 'erased'
    | 'falsely_erased'
    | 'unchained'
    | 'not_chained'
    | 'not_found';
  /** For moved entries: where the first of them was. */
  fromThreadId?: string;
  fromSeq?: number;
}
