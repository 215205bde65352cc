import type { Lanefold } from 'lanefold';

const messages = 100;

/** Threads whose lane has a long context; each serves one run at a time. */
export class LongThreads {
  private constructor(private readonly free: string[]) {}

  static async create(lanefold: Pick<Lanefold, 'threads'>, count: number, bytes: number): Promise<LongThreads> {
    const content = 'The quick brown fox jumps over the lazy dog. '.repeat(bytes / messages / 45);
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      const { id } = await lanefold.threads.create();
      await lanefold.threads.append(
        id,
        Array.from({ length: messages }, (_, n) => ({
          message: { role: n % 2 === 0 ? 'user' : 'assistant', content },
        })),
      );
      ids.push(id);
    }
    return new LongThreads(ids);
  }

  take(): string {
    return this.free.shift()!;
  }

  giveBack(id: string): void {
    this.free.push(id);
  }
}
