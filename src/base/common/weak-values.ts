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
