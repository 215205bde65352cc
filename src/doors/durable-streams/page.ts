/** Part of a stream, as it is read. */
export interface Page {
  /** Differs between streams that had the same URL. */
  id: string;
  contentType: string;
  /** In lower case, without parameters. */
  mediaType: string;
  /** The bytes, or an array of JSON; empty without data, whatever the type. */
  data: Buffer;
  from: number;
  /** The position after the data. */
  next: number;
  /** There was nothing after `next`. */
  upToDate: boolean;
  /** There will be nothing after `next`. */
  closed: boolean;
  ttlS: number | null;
  endsAt: string | null;
}

/** A stream that can be read. Its methods throw `stream_not_found`, `stream_deleted` or what they throw for its thread. */
export interface Readable {
  /** Its end, without data; `closed`: whether the stream is closed. Does not count as a read. */
  head(): Promise<Page>;
  /** @param from undefined: the end. @throws LanefoldError `invalid_input` if there is no such position yet */
  read(from: number | undefined): Promise<Page>;
  /** Resolves once there may be something after an up-to-date page, or the signal aborts. */
  changed(page: Page, signal: AbortSignal): Promise<void>;
  /** The pages that follow a page as they come. Ends with the stream, or the signal. */
  follow(page: Page, signal: AbortSignal): AsyncGenerator<Page, void, void>;
}
