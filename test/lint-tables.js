/** A line that begins with a pipe and is in no table: its table has no delimiter row, or lost its header. */
export default {
  names: ['broken-table'],
  description: 'A row must belong to a table',
  tags: ['table'],
  parser: 'micromark',
  function: ({ parsers }, report) => {
    for (const { type, text, startLine } of parsers.micromark.tokens) {
      if (type !== 'content' || !/^\s*\|/m.test(text)) continue;
      report({ lineNumber: startLine, context: text.split('\n')[0] });
    }
  },
};
