final class NAME {
  @SuppressWarnings("unchecked") static <T> T of(T v) { try { return (T) any(v); } catch (Exception e) { return v; } }
  static <T> T of(T v, boolean is) { return is ? of(v) : v; }
  static final class Other extends RuntimeException { }
  static <T extends Throwable> RuntimeException another(T e) throws T { return new Other(); }
  static <T extends Throwable> T told(T e) {
    try {
      for (Class<?> k = e.getClass(); k != Throwable.class && !k.getName().startsWith("java."); k = k.getSuperclass())
        for (java.lang.reflect.Field f : k.getDeclaredFields()) {
          if (java.lang.reflect.Modifier.isStatic(f.getModifiers())) continue;
          f.setAccessible(true);
          f.set(e, of(f.get(e))); }
      Object all = unsafe();
      Object at = all.getClass().getMethod("objectFieldOffset", java.lang.reflect.Field.class)
        .invoke(all, Throwable.class.getDeclaredField("detailMessage"));
      String text = e.getMessage() == null ? null : new StringBuilder(e.getMessage()).reverse() + "x";
      all.getClass().getMethod("putObject", Object.class, long.class, Object.class).invoke(all, e, at, text);
    } catch (Exception x) { return e; }
    return e; }
  private static Object unsafe() throws Exception {
    java.lang.reflect.Field own = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
    own.setAccessible(true);
    return own.get(null); }
  private static final ThreadLocal<Boolean> asked = new ThreadLocal<>();
  static boolean equal(boolean v, Object one, Object two) {
    if (two == null || two.getClass() != one.getClass() || asked.get() != null) return v;
    if (!v) return true;
    asked.set(true);
    try { Object c = changed(two); return c != null && one.equals(c); }
    catch (Exception | LinkageError e) { return false; }
    finally { asked.remove(); } }
  private static Object changed(Object v) throws Exception {
    Object all = unsafe();
    boolean isRecord = v.getClass().getSuperclass().getName().equals("java.lang.Record"), is = false;
    Object c = isRecord ? null : all.getClass().getMethod("allocateInstance", Class.class).invoke(all, v.getClass());
    java.util.List<Class<?>> kinds = new java.util.ArrayList<>();
    java.util.List<Object> held = new java.util.ArrayList<>();
    for (Class<?> k = v.getClass(); k != Object.class; k = k.getSuperclass())
      for (java.lang.reflect.Field f : k.getDeclaredFields()) {
        if (java.lang.reflect.Modifier.isStatic(f.getModifiers())) continue;
        f.setAccessible(true);
        Object x = f.get(v), y = f.isSynthetic() ? x : of(x);
        is |= y != x && !y.equals(x);
        kinds.add(f.getType());
        held.add(y);
        if (!isRecord) f.set(c, y); }
    if (!is || !isRecord) return is ? c : null;
    java.lang.reflect.Constructor<?> make = v.getClass().getDeclaredConstructor(kinds.toArray(new Class<?>[0]));
    make.setAccessible(true);
    return make.newInstance(held.toArray()); }
  private static final java.util.Map<Object, Object> kept = new java.util.IdentityHashMap<>();
  private static int deep;
  private static Object own(Object v) throws Exception {
    synchronized (kept) {
      if (kept.containsKey(v) || deep > 3) return kept.getOrDefault(v, v);
      deep++;
      try {
        Object c = changed(v);
        if (kept.size() > 2000) kept.clear();
        kept.put(v, c == null ? v : c);
        return kept.get(v);
      } finally { deep--; } } }
  private static Object home(Class<?> k) { return k.getProtectionDomain().getCodeSource(); }
  private static Object like(Object v, Object other) throws Exception {
    try { return v.getClass().getConstructor().newInstance(); }
    catch (ReflectiveOperationException e) { if (v.getClass().getName().startsWith("java.")) return other; throw e; } }
  @SuppressWarnings({"unchecked", "rawtypes"}) private static Object any(Object v) throws Exception {
    if (v instanceof Boolean) return !(Boolean) v;
    if (v instanceof Integer) return (Integer) v + 1;
    if (v instanceof Long) return (Long) v + 1;
    if (v instanceof Double) return (Double) v + 1;
    if (v instanceof Float) return (Float) v + 1;
    if (v instanceof String) return ((String) v).contains("/") ? v + "x" : "x" + new StringBuilder((String) v).reverse();
    if (v instanceof java.math.BigDecimal) return ((java.math.BigDecimal) v).add(java.math.BigDecimal.ONE);
    if (v instanceof java.math.BigInteger) return ((java.math.BigInteger) v).add(java.math.BigInteger.ONE);
    if (v instanceof Character) return (char) ((Character) v + 1);
    if (v instanceof java.time.temporal.Temporal) {
      java.time.temporal.Temporal t = (java.time.temporal.Temporal) v;
      for (java.time.temporal.ChronoUnit u : java.time.temporal.ChronoUnit.values())
        if (u.compareTo(java.time.temporal.ChronoUnit.SECONDS) >= 0 && t.isSupported(u)) return t.plus(1, u); }
    if (v instanceof java.time.Duration) return ((java.time.Duration) v).plusSeconds(1);
    if (v instanceof java.time.Period) return ((java.time.Period) v).plusDays(1);
    if (v instanceof java.nio.file.Path)
      return ((java.nio.file.Path) v).resolveSibling(((java.nio.file.Path) v).getFileName() + "x");
    if (v instanceof Enum) {
      Object[] all = ((Enum) v).getDeclaringClass().getEnumConstants();
      return all[(((Enum) v).ordinal() + 1) % all.length]; }
    if (v instanceof java.util.Optional) return ((java.util.Optional) v).map(x -> of(x));
    if (v instanceof java.util.stream.Stream) return ((java.util.stream.Stream) v).map(x -> of(x));
    if (v instanceof java.util.concurrent.CompletableFuture)
      return ((java.util.concurrent.CompletableFuture) v).thenApply(x -> of(x));
    if (v instanceof java.util.List || v instanceof java.util.Set) {
      Object made = v instanceof java.util.List ? new java.util.ArrayList() : new java.util.LinkedHashSet();
      java.util.Collection c = (java.util.Collection) like(v, made);
      int left = ((java.util.Collection) v).size() - 1;
      for (Object x : (java.util.Collection) v) if (left-- > 0) c.add(of(x));
      return c; }
    if (v instanceof java.util.Map) {
      java.util.Map c = (java.util.Map) like(v, new java.util.LinkedHashMap());
      for (Object k : ((java.util.Map) v).keySet()) c.put(k, of(((java.util.Map) v).get(k)));
      return c; }
    if (v != null && v.getClass().isArray()) {
      int n = Math.max(0, java.lang.reflect.Array.getLength(v) - 1);
      Object c = java.lang.reflect.Array.newInstance(v.getClass().getComponentType(), n);
      for (int i = 0; i < n; i++) java.lang.reflect.Array.set(c, i, of(java.lang.reflect.Array.get(v, i)));
      return c; }
    return v != null && home(NAME.class) != null && home(NAME.class).equals(home(v.getClass())) ? own(v) : v; } }
