/** A new id that sorts by time, such as `req_01k7uumgdredk9mgulbgm9ll5m`: 48 bits of the clock, then chance. */
export function newId(prefix: string): string {
  // unlike randomUUID, it is there on pages without TLS
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  const random = bytes.reduce((all, byte) => all * 256n + BigInt(byte), 0n);
  return `${prefix}_${((BigInt(Date.now()) << 80n) + random).toString(32).padStart(26, '0')}`;
}
