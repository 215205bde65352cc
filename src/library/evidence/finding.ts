/** What is wrong with the log of a thread. `seq` to `upto`, both included, are the entries it is about; null: the thread. */
export interface EvidenceFinding {
  threadId: string;
  seq: number | null;
  upto: number | null;
  /** See docs/evidence.md. */
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
  /** Of entries that were moved: where the first of them was. */
  fromThreadId?: string;
  fromSeq?: number;
}
