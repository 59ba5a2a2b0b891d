# docker build -t ncc . && docker run --rm -v "$PWD:/code" ncc predict-device /code/kernel.cl --transfer 256MB
FROM python:3.13-slim
COPY . /ncc
RUN pip install --no-cache-dir -c /ncc/constraints.txt /ncc && rm -r /ncc
WORKDIR /code
ENTRYPOINT ["ncc"]
