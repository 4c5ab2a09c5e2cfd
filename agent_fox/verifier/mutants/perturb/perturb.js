function NAME<T>(v: T, d = 0, pair = null): T {
  const t = typeof v, q = NAME, seen = q.seen || (q.seen = new WeakMap());
  if (pair === "told" || pair === "another") {
    if (Object.prototype.toString.call(v) !== "[object Error]") return q(v);
    const isTold = pair === "told";
    const c = isTold ? Object.create(Object.getPrototypeOf(v)) : new (class Another extends Error {})();
    Reflect.ownKeys(v).filter((k) => isTold || k !== "name").forEach((k) => {
      const own = Object.getOwnPropertyDescriptor(v, k), value = isTold && k !== "stack" ? q(v[k]) : v[k];
      Object.defineProperty(c, k, { value, enumerable: own.enumerable, configurable: true, writable: true });
    });
    return c;
  }
  if (pair) {
    const [one, other, name] = pair;
    if (q.busy || !(other instanceof one.constructor)) return v;
    if (v === true && Reflect.ownKeys(other).length) {
      q.busy = true;
      try { if (one[name](q(other)) === true) return v; } catch {} finally { q.busy = false; }
    }
  }
  if (t === "boolean") return !v;
  if (t === "number") return v + 1 > v && v + 1 < Infinity ? v + 1 : 0;
  if (t === "bigint") return v + BigInt(1);
  if (t === "string") return v.includes("/") ? v + "x" : "x" + [...v].reverse().join("");
  if (!v || t === "symbol" || d > 4) return v;
  const keep = (make) => seen.get(v) || (seen.set(v, make()), seen.get(v));
  const last = (all) => all.slice(0, all.every((x) => typeof x === typeof all[0]) ? -1 : undefined);
  const step = (r) => (Object(r) === r && "done" in r ? { ...r, value: q(r.value) } : q(r));
  try {
    if (t === "function") return keep(() => new Proxy(v, { apply: (f, me, a) => q(Reflect.apply(f, me, a)) }));
    const tag = Object.prototype.toString.call(v).slice(8, -1), proto = Object.getPrototypeOf(v);
    if (tag === "Promise") return keep(() => v.then((x) => q(x)));
    if (tag === "Array") {
      const c = keep(() => v.slice(0, 0)), all = last(v).map((x, i) => (i < 999 ? q(x, d + 1) : x));
      c.length = 0;
      all.forEach((x) => c.push(x));
      return c;
    }
    if (tag === "Map" || tag === "Set") {
      const c = keep(() => new v.constructor()), all = [...v].slice(0, -1);
      c.clear();
      all.forEach((x) => (tag === "Map" ? c.set(x[0], q(x[1], d + 1)) : c.add(q(x, d + 1))));
      return c;
    }
    if (tag === "Date") return keep(() => new v.constructor(+v + 90061001));
    if (ArrayBuffer.isView(v)) {
      const c = keep(() => v.map((x) => x));
      c.set(v.map((x) => q(x)));
      return c;
    }
    if ((!proto || !Object.getPrototypeOf(proto)) && typeof v.next !== "function" && typeof v.then !== "function") {
      const c = keep(() => Object.create(proto));
      Reflect.ownKeys(c).forEach((k) => k in v || delete c[k]);
      Reflect.ownKeys(v).forEach((k) => {
        const own = Object.getOwnPropertyDescriptor(v, k);
        const isMatcher = k === "asymmetricMatch" || k === "$$typeof";
        if ("value" in own && !isMatcher) Object.assign(own, { value: q(own.value, d + 1), writable: true });
        Object.defineProperty(c, k, Object.assign(own, { configurable: true }));
      });
      return c;
    }
    return keep(() => new Proxy(Object.create(proto), {
      get: (_, k) => {
        const x = v[k];
        if (k === "constructor" || (typeof k === "symbol" && typeof x !== "function")) return x;
        if (typeof x !== "function") return q(x);
        if (k === "then") return (a, b) => x.call(v, (y) => (a ? a(q(y)) : q(y)), b);
        const asks = ["includes", "has", "contains", "equals", "isEqual", "isEqualTo", "eq"].indexOf(k) >= 0;
        const isYes = (r, a) => asks && r === true && x.apply(v, a.map((y) => q(y))) === true;  // to all that is asked
        if (k !== "next") return (...a) => ((r) => (isYes(r, a) ? r : q(r)))(x.apply(v, a));
        return (...a) => {
          const r = x.apply(v, a);
          return r && typeof r.then === "function" ? r.then(step) : step(r);
        };
      },
      set: (_, k, x) => Reflect.set(v, k, x),
      has: (_, k) => k in v,
      deleteProperty: (_, k) => delete v[k],
      ownKeys: () => Reflect.ownKeys(v),
      getOwnPropertyDescriptor: (_, k) => {
        const own = Reflect.getOwnPropertyDescriptor(v, k), value = typeof k === "symbol" ? v[k] : q(v[k]);
        return own && { value, enumerable: own.enumerable, configurable: true, writable: true };
      },
    }));
  } catch { return v; }
}
