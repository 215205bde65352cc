/** A map that keeps the most recently used entries. */
export class Recent<K, V> {
  readonly #entries = new Map<K, V>();

  constructor(private readonly most: number) {}

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: K, value: V): V {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.most) this.#entries.delete(this.#entries.keys().next().value!);
    return value;
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}
