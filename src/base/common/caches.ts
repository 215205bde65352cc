/** A map that keeps the most recently used entries, by number or by weight; always the last one. */
export class Recent<K, V> {
  readonly #entries = new Map<K, V>();
  #weight = 0;

  constructor(
    private readonly most: number,
    private readonly weightOf: (value: V) => number = () => 1,
  ) {}

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: K, value: V): V {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.weightOf(value);
    while (this.#weight > this.most && this.#entries.size > 1) this.delete(this.#entries.keys().next().value!);
    return value;
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#weight -= this.weightOf(value);
    this.#entries.delete(key);
  }
}

/** A map of weakly held values: each stays available for as long as other code references it. */
export class WeakValues<K, V extends object> {
  readonly #held = new Map<K, WeakRef<V>>();
  readonly #collected = new FinalizationRegistry<K>((key) => {
    if (!this.get(key)) this.#held.delete(key);
  });

  get(key: K): V | undefined {
    return this.#held.get(key)?.deref();
  }

  set(key: K, value: V): V {
    this.#held.set(key, new WeakRef(value));
    this.#collected.register(value, key);
    return value;
  }

  *[Symbol.iterator](): Generator<V, void, void> {
    for (const reference of this.#held.values()) {
      const value = reference.deref();
      if (value) yield value;
    }
  }
}
