import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

const shown = ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens', 'gen_ai.response.finish_reasons'];

/** Prints each span as it ends, so calls come before the claim they belong to. */
export const printSpans: SpanExporter = {
  export(spans, done) {
    for (const span of spans) console.log(toLine(span));
    done({ code: 0 });
  },
  async shutdown() {},
};

function toLine(span: ReadableSpan): string {
  const { name, attributes, parentSpanContext: parent } = span;
  const { traceId, spanId } = span.spanContext();
  const facts = shown.flatMap((key) =>
    key in attributes ? `${key.split('.').at(-1)}=${String(attributes[key])}` : [],
  );
  const below = parent ? `below ${parent.spanId.slice(0, 4)}` : 'root';
  return [traceId.slice(0, 4), spanId.slice(0, 4), below.padEnd(10), name.slice(0, 40), ...facts].join('  ');
}
