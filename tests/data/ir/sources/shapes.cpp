// Exceptions, virtual calls, several bases (a vtable with more than one address point), templates.
struct Shape {
  virtual double area() const = 0;
  virtual ~Shape() {}
};
struct Named {
  virtual const char *name() const { return "?"; }
};
struct Square : Shape, Named {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
  const char *name() const override { return "square\t\"\\"; }
};
struct Bad {
  int code;
};

template <typename T, int N> T sum_of(const T (&values)[N]) {
  T sum = T();
  for (int i = 0; i < N; i++) sum += values[i];
  return sum;
}

double checked(const Shape &shape) {
  double a = shape.area();
  if (a < 0) throw Bad{3};
  return a;
}

double guarded(double side) {
  Square square(side);
  try {
    return checked(square);
  } catch (const Bad &bad) {
    return bad.code;
  } catch (...) {
    return -1;
  }
}

float sums() {
  const float some[3] = {1.5f, 2.5f, -0.0f};
  const long others[2] = {1, 2};
  return sum_of(some) + static_cast<float>(sum_of(others));
}
