package conversion_test
import ("testing";"strings";"github.com/llamastack/llama-stack-k8s-operator/internal/convert";"bytes")
func BenchmarkZ(b *testing.B){
 o:=[]byte(large("a",3<<19))
 u:=[]byte(strings.Replace(older("a"), `"replicas":1`, `"unknown":[`+strings.Repeat("1,", 3<<18)+`1]`, 1))
 l:=[]byte(strings.Replace(older("a"), `"uid"`, `"labels":{`+numbered((3<<19)/12)+`"a":"b"},"uid"`, 1))
 for n,x:=range map[string][]byte{"long":o,"unknown":u,"labels":l}{ b.Run(n,func(b *testing.B){ b.ReportAllocs(); b.SetBytes(int64(len(x))); var d []byte
  for b.Loop(){ d,_=convert.AppendJSON(d[:0],x,v2)}
  _=bytes.Equal
 })}
}
