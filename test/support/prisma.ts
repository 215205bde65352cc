import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';

/** What Prisma generates for raw queries, whatever the schema. */
interface RawClient {
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): Promise<T>;
  $executeRawUnsafe(query: string, ...values: unknown[]): Promise<number>;
}

export interface PrismaClient extends RawClient {
  $transaction<R>(work: (tx: RawClient) => Promise<R>): Promise<R>;
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
}

/** Not in the types of Node. */
const { WebAssembly } = globalThis as unknown as { WebAssembly: { Module: new (code: Uint8Array) => object } };

const require = createRequire(import.meta.url);
const compiler = '@prisma/client/runtime/query_compiler_fast_bg.postgresql';

/**
 * A client of Prisma without a model. `prisma generate` would write the same call with a larger configuration, but its
 * package downloads binaries, and raw queries need none of it.
 */
export function openPrisma(connectionString: string): PrismaClient {
  const { getPrismaClient } = require('@prisma/client/runtime/client') as {
    getPrismaClient(config: object): new (options: object) => PrismaClient;
  };
  const { version } = require('@prisma/client/package.json') as { version: string };
  const Client = getPrismaClient({
    previewFeatures: [],
    clientVersion: version,
    engineVersion: version,
    activeProvider: 'postgresql',
    inlineSchema: 'datasource db {\n  provider = "postgresql"\n}\n',
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    // an empty graph: all its counts are 0
    parameterizationSchema: { strings: [], graph: Buffer.alloc(64).toString('base64') },
    compilerWasm: {
      getRuntime: async () => require(`${compiler}.js`) as object,
      getQueryCompilerWasmModule: async () => {
        const { wasm } = require(`${compiler}.wasm-base64.js`) as { wasm: string };
        return new WebAssembly.Module(Buffer.from(wasm, 'base64'));
      },
      importName: './query_compiler_fast_bg.js',
    },
  });
  return new Client({ adapter: new PrismaPg({ connectionString }) });
}
