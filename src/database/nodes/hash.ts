const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

/**
 * The hash that PostgreSQL computes of a text with a deterministic collation (`hashtext`), as an int4: it decides which
 * shard has a thread. It is Bob Jenkins's lookup3, which PostgreSQL cannot change without rebuilding hash indexes.
 */
export function hashText(text: string): number {
  const key = Buffer.from(text);
  let a = (0x9e3779b9 + key.length + 3_923_095) | 0;
  let b = a;
  let c = a;
  let at = 0;
  for (; key.length - at >= 12; at += 12) {
    a = (a + key.readInt32LE(at)) | 0;
    b = (b + key.readInt32LE(at + 4)) | 0;
    c = (c + key.readInt32LE(at + 8)) | 0;
    a = ((a - c) | 0) ^ rotate(c, 4);
    c = (c + b) | 0;
    b = ((b - a) | 0) ^ rotate(a, 6);
    a = (a + c) | 0;
    c = ((c - b) | 0) ^ rotate(b, 8);
    b = (b + a) | 0;
    a = ((a - c) | 0) ^ rotate(c, 16);
    c = (c + b) | 0;
    b = ((b - a) | 0) ^ rotate(a, 19);
    a = (a + c) | 0;
    c = ((c - b) | 0) ^ rotate(b, 4);
    b = (b + a) | 0;
  }
  const byte = (n: number, to: number): number => (key[at + n] ?? 0) << to;
  a = (a + (byte(0, 0) | byte(1, 8) | byte(2, 16) | byte(3, 24))) | 0;
  b = (b + (byte(4, 0) | byte(5, 8) | byte(6, 16) | byte(7, 24))) | 0;
  // the lowest byte of c is reserved for the length
  c = (c + (byte(8, 8) | byte(9, 16) | byte(10, 24))) | 0;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) | 0;
}
