import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { printSpans } from './print-spans.ts';

// In production, a BatchSpanProcessor with an OTLPTraceExporter from @opentelemetry/exporter-trace-otlp-http.
export const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(printSpans)] });
provider.register();
