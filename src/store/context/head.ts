/** A `seq` beyond every entry: "as of now". The largest bigint, as text, because no number holds it. */
export const head = '9223372036854775807';
