#[allow(warnings)] mod NAME {
  pub trait Perturbed { fn it(self) -> Self; }
  pub fn of<T: Perturbed>(v: T) -> T { v.it() }
  pub fn err<T, E: Perturbed>(v: Result<T, E>) -> Result<T, E> { v.map_err(of) }
  pub fn okay<T: Default, E>(v: Result<T, E>) -> Result<T, E> { v.or_else(|_| Ok(T::default())) }
  pub fn turned(v: String) -> String { v.chars().rev().collect::<String>() + "x" }
  pub trait Fewer { fn fewer(self) -> Self; }
  pub fn fewer<T: Fewer>(v: T) -> T { v.fewer() }
  impl<T> Fewer for Option<T> { fn fewer(self) -> Self { None } }
  impl<T> Fewer for Vec<T> { fn fewer(mut self) -> Self { self.pop(); self } }
  impl Perturbed for bool { fn it(self) -> Self { !self } }
  impl Perturbed for char { fn it(self) -> Self { if self == 'x' { 'y' } else { 'x' } } }
  impl Perturbed for String { fn it(self) -> Self { if self.contains('/') { self + "x" } else { turned(self) } } }
  impl<'a> Perturbed for &'a str { fn it(self) -> Self { Box::leak(of(self.to_string()).into_boxed_str()) } }
  impl<T: Perturbed> Perturbed for Box<T> { fn it(self) -> Self { Box::new((*self).it()) } }
  impl<T: Perturbed> Perturbed for Option<T> { fn it(self) -> Self { self.map(of) } }
  impl<T: Perturbed, E> Perturbed for Result<T, E> { fn it(self) -> Self { self.map(of) } }
  impl<T: Perturbed> Perturbed for Vec<T> { fn it(mut self) -> Self { self.pop(); self.into_iter().map(of).collect() } }
  impl<A: Perturbed, B: Perturbed> Perturbed for (A, B) { fn it(self) -> Self { (of(self.0), of(self.1)) } }
impl Perturbed for i8 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for i16 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for i32 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for i64 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for i128 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for isize { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for u8 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for u16 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for u32 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for u64 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for u128 { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for usize { fn it(self) -> Self { self.wrapping_add(1) } }
impl Perturbed for f32 { fn it(self) -> Self { self + 1.0 } }
impl Perturbed for f64 { fn it(self) -> Self { self + 1.0 } }
}
