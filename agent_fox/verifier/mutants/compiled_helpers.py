"""What perturbs a value in Go, Java and Rust, for the end of a text that is broken."""

from __future__ import annotations

from zlib import crc32

from agent_fox.verifier.mutants.syntax import free_name
from agent_fox.verifier.policy.values import Language

_GO = """\
type NAMEError struct{ error }

func (e NAMEError) Error() string { return e.error.Error() + "x" }
func (e NAMEError) Unwrap() error { return e.error }
func NAME(all ...interface{}) {
  for _, one := range all {
    NAMEIn(NAMEreflect.ValueOf(one).Elem(), 0)
  }
}
func NAMEIn(v NAMEreflect.Value, deep int) {
  if !v.CanSet() || deep > 4 {
    return
  }
  switch kind := v.Kind(); kind {
  case NAMEreflect.Bool:
    v.SetBool(!v.Bool())
  case NAMEreflect.Int, NAMEreflect.Int8, NAMEreflect.Int16, NAMEreflect.Int32, NAMEreflect.Int64:
    v.SetInt(v.Int() + 1)
  case NAMEreflect.Uint, NAMEreflect.Uint8, NAMEreflect.Uint16, NAMEreflect.Uint32, NAMEreflect.Uint64:
    v.SetUint(v.Uint() + 1)
  case NAMEreflect.Float32, NAMEreflect.Float64:
    v.SetFloat(v.Float() + 1)
  case NAMEreflect.String:
    v.SetString(v.String() + "x")
  case NAMEreflect.Array:
    for i := 0; i < v.Len(); i++ {
      NAMEIn(v.Index(i), deep+1)
    }
  case NAMEreflect.Struct:
    for i := 0; i < v.NumField(); i++ {
      NAMEIn(v.Field(i), deep+1)
    }
  case NAMEreflect.Slice, NAMEreflect.Map, NAMEreflect.Interface:
    if kind == NAMEreflect.Interface && !v.IsNil() || kind != NAMEreflect.Interface && v.Len() > 0 {
      v.Set(NAMECopy(v, deep))
    }
  }
}
func NAMECopy(v NAMEreflect.Value, deep int) NAMEreflect.Value {
  if v.Kind() == NAMEreflect.Slice {
    c := NAMEreflect.MakeSlice(v.Type(), v.Len()-1, v.Len()-1)
    NAMEreflect.Copy(c, v)
    for i := 0; i < c.Len(); i++ {
      NAMEIn(c.Index(i), deep+1)
    }
    return c
  }
  one := func(of NAMEreflect.Value, in NAMEreflect.Type) NAMEreflect.Value {
    x := NAMEreflect.New(in).Elem()
    x.Set(of)
    NAMEIn(x, deep+1)
    return x
  }
  if v.Kind() == NAMEreflect.Interface {
    if e, is := v.Interface().(error); is && v.Type().String() == "error" {
      return NAMEreflect.ValueOf(NAMEError{e})
    }
    return one(v.Elem(), v.Elem().Type())
  }
  c := NAMEreflect.MakeMap(v.Type())
  for _, k := range v.MapKeys() {
    c.SetMapIndex(k, one(v.MapIndex(k), v.Type().Elem()))
  }
  return c
}
var NAMEAsked bool
func NAMETells(is bool, other interface{}, again func(interface{}) bool) (tells bool) {
  if NAMEAsked || !is {
    return !NAMEAsked
  }
  NAMEAsked = true
  defer func() {
    NAMEAsked = false
    tells = tells || recover() != nil
  }()
  v := NAMEreflect.ValueOf(other)
  isPointer := v.Kind() == NAMEreflect.Ptr
  if isPointer {
    v = v.Elem()
  }
  c := NAMEreflect.New(v.Type())
  c.Elem().Set(v)
  NAMEWhole(c.Elem())
  if NAMEreflect.DeepEqual(c.Elem().Interface(), v.Interface()) {
    return true
  }
  if isPointer {
    return !again(c.Interface())
  }
  return !again(c.Elem().Interface())
}
func NAMEWhole(v NAMEreflect.Value) {
  if v.Kind() != NAMEreflect.Struct || v.Type().PkgPath() == "sync" {
    NAMEIn(v, 0)
    return
  }
  for i := 0; i < v.NumField(); i++ {
    f := v.Field(i)
    NAMEWhole(NAMEreflect.NewAt(f.Type(), NAMEunsafe.Pointer(f.UnsafeAddr())).Elem())
  }
}
"""

_JAVA = """\
final class NAME {
  @SuppressWarnings("unchecked") static <T> T of(T v) { try { return (T) any(v); } catch (Exception e) { return v; } }
  static <T> T of(T v, boolean is) { return is ? of(v) : v; }
  private static final ThreadLocal<Boolean> asked = new ThreadLocal<>();
  static boolean equal(boolean v, Object one, Object two) {
    if (two == null || two.getClass() != one.getClass() || asked.get() != null) return v;
    if (!v) return true;
    asked.set(true);
    try { Object c = changed(two); return c != null && one.equals(c); }
    catch (Exception | LinkageError e) { return false; }
    finally { asked.remove(); } }
  private static Object changed(Object v) throws Exception {
    Class<?> home = Class.forName("sun.misc.Unsafe");
    java.lang.reflect.Field own = home.getDeclaredField("theUnsafe");
    own.setAccessible(true);
    Object c = home.getMethod("allocateInstance", Class.class).invoke(own.get(null), v.getClass());
    boolean is = false;
    for (Class<?> k = v.getClass(); k != Object.class; k = k.getSuperclass())
      for (java.lang.reflect.Field f : k.getDeclaredFields()) {
        if (java.lang.reflect.Modifier.isStatic(f.getModifiers())) continue;
        f.setAccessible(true);
        Object x = f.get(v), y = of(x);
        is |= y != x && !y.equals(x);
        f.set(c, y); }
    return is ? c : null; }
  private static Object like(Object v, Object other) throws Exception {
    try { return v.getClass().getConstructor().newInstance(); }
    catch (ReflectiveOperationException e) { if (v.getClass().getName().startsWith("java.")) return other; throw e; } }
  @SuppressWarnings({"unchecked", "rawtypes"}) private static Object any(Object v) throws Exception {
    if (v instanceof Boolean) return !(Boolean) v;
    if (v instanceof Integer) return (Integer) v + 1;
    if (v instanceof Long) return (Long) v + 1;
    if (v instanceof Double) return (Double) v + 1;
    if (v instanceof Float) return (Float) v + 1;
    if (v instanceof String) return v + "x";
    if (v instanceof java.math.BigDecimal) return ((java.math.BigDecimal) v).add(java.math.BigDecimal.ONE);
    if (v instanceof java.math.BigInteger) return ((java.math.BigInteger) v).add(java.math.BigInteger.ONE);
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
    return v; } }
"""

_INTEGERS = ("i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize")
_RUST = """\
#[allow(warnings)] mod NAME {
  pub trait Perturbed { fn it(self) -> Self; }
  pub fn of<T: Perturbed>(v: T) -> T { v.it() }
  impl Perturbed for bool { fn it(self) -> Self { !self } }
  impl Perturbed for char { fn it(self) -> Self { if self == 'x' { 'y' } else { 'x' } } }
  impl Perturbed for String { fn it(self) -> Self { self + "x" } }
  impl<'a> Perturbed for &'a str { fn it(self) -> Self { Box::leak(format!("{}x", self).into_boxed_str()) } }
  impl<T: Perturbed> Perturbed for Box<T> { fn it(self) -> Self { Box::new((*self).it()) } }
  impl<T: Perturbed> Perturbed for Option<T> { fn it(self) -> Self { self.map(of) } }
  impl<T: Perturbed, E> Perturbed for Result<T, E> { fn it(self) -> Self { self.map(of) } }
  impl<T: Perturbed> Perturbed for Vec<T> { fn it(mut self) -> Self { self.pop(); self.into_iter().map(of).collect() } }
  impl<A: Perturbed, B: Perturbed> Perturbed for (A, B) { fn it(self) -> Self { (of(self.0), of(self.1)) } }
""" + "".join(
    f"impl Perturbed for {one} {{ fn it(self) -> Self {{ {change} }} }}\n"
    for names, change in ((_INTEGERS, "self.wrapping_add(1)"), (("f32", "f64"), "self + 1.0"))
    for one in names
)
_CODE = {Language.GO: _GO, Language.JAVA: _JAVA, Language.RUST: _RUST + "}\n"}


def helper_name(text: str, language: Language) -> str:
    """A name that the text does not have, nor the other files of its package."""
    return free_name(text, f"{'P' if language is Language.JAVA else 'p'}erturbed{crc32(text.encode()):08x}")


def perturbing(name: str, language: Language) -> str:
    """The code under this name. In Go it wants the packages `reflect` and `unsafe`, as the name and theirs."""
    return _CODE[language].replace("NAME", name)
