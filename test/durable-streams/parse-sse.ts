/** The whole events of a response; an unfinished one at its end is dropped, as the specification of SSE says. */
export async function* parseSse(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
      const of = (name: string) => fields.filter(([, field]) => field === name).map(([, , value]) => value);
      const [event] = of('event');
      if (event !== undefined) yield { event, data: of('data').join('\n') };
    }
  }
}
