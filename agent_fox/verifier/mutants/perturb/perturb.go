type NAMEError struct{ error }

func (e NAMEError) Error() string { return e.error.Error() + "x" }
func (e NAMEError) Unwrap() error { return e.error }
type NAMEOther struct{}

func (NAMEOther) Error() string { return "another" }
func NAMEAnother(all ...*error) {
  for _, one := range all {
    if *one != nil {
      *one = NAMEOther{}
    }
  }
}
func NAMEPanic(v interface{}) interface{} {
  switch v.(type) {
  case error:
    return NAMEOther{}
  case string:
    return "another"
  }
  NAME(&v)
  return v
}
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
    v.SetString(NAMEText(v.String()))
  case NAMEreflect.Array:
    for i := 0; i < v.Len(); i++ {
      NAMEIn(v.Index(i), deep+1)
    }
  case NAMEreflect.Struct:
    for i := 0; i < v.NumField(); i++ {
      f := v.Field(i)
      if !f.CanSet() && (v.Type().PkgPath() == "time" || NAMEOwn(v.Type())) {
        f = NAMEreflect.NewAt(f.Type(), NAMEunsafe.Pointer(f.UnsafeAddr())).Elem()
      }
      NAMEIn(f, deep+1)
    }
  case NAMEreflect.Ptr:
    if !v.IsNil() && NAMEOwn(v.Type().Elem()) {
      v.Set(NAMEHeld(v, deep))
    }
  case NAMEreflect.Slice, NAMEreflect.Map, NAMEreflect.Interface:
    if kind == NAMEreflect.Interface && !v.IsNil() || kind != NAMEreflect.Interface && v.Len() > 0 {
      v.Set(NAMECopy(v, deep))
    }
  }
}
func NAMEText(s string) string {
  turned := "x"
  for _, letter := range s {
    if letter == '/' {
      return s + "x"
    }
    turned = string(letter) + turned
  }
  return turned
}
func NAMEOwn(t NAMEreflect.Type) bool {
  return t.Kind() == NAMEreflect.Struct && t.PkgPath() == NAMEreflect.TypeOf(NAMEOther{}).PkgPath()
}
var NAMEKept NAMEsync.Map
func NAMEHeld(v NAMEreflect.Value, deep int) NAMEreflect.Value {
  if c, is := NAMEKept.Load(v.Interface()); is {
    return NAMEreflect.ValueOf(c)
  }
  c := NAMEreflect.New(v.Type().Elem())
  c.Elem().Set(v.Elem())
  NAMEIn(c.Elem(), deep+1)
  NAMEKept.Store(v.Interface(), c.Interface())
  NAMEKept.Store(c.Interface(), c.Interface())
  return c
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
