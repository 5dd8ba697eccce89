/** Reads a gallery that logoadmin publishes: docs/readers.md. Made of tools/reader/reader.js of the project. */
const PATH=/^((from-)?\d+|withdrawn)-[0-9a-f]{16}\.json$/,PINNED=/(?<=["'(\s])(css\/)?[0-9a-f]{64}\.css(?=["')\s]|$)/g,KINDS=[
"author","logo","theme"];class ReaderError extends Error{}const bytesOf=text=>new TextEncoder().encode(text),textOf=bytes=>new TextDecoder(
"utf-8",{fatal:!0,ignoreBOM:!0}).decode(bytes),base64=bytes=>btoa(bytes.reduce((text,byte)=>text+String.fromCharCode(byte),
"")),decoded=text=>Uint8Array.from(atob(text.replace(/-/g,"+").replace(/_/g,"/")),letter=>letter.charCodeAt(0)),digest=async bytes=>new Uint8Array(
await crypto.subtle.digest("SHA-256",bytes)),sha256=async bytes=>(await digest(bytes)).reduce((hex,byte)=>hex+(byte+256).
toString(16).slice(1),""),hashOf=text=>sha256(bytesOf(text)),attempt=async act=>{try{return await act()}catch{return}},isOver=seconds=>seconds*
1e3<=Date.now(),byId=(records,id)=>new Map(records.map(record=>[record[id],record]));async function isSigner({x},{payload,
signatures}){const thumbprint=base64(await digest(bytesOf(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`))),isGood=async({protected:header,
signature})=>{const{alg,kid,crit}=JSON.parse(textOf(decoded(header)));if(alg!=="Ed25519"||crit||base64(decoded(kid))!==thumbprint)
return!1;const key=await crypto.subtle.importKey("jwk",{kty:"OKP",crv:alg,x},alg,!1,["verify"]);return crypto.subtle.verify(
alg,key,decoded(signature),bytesOf(`${header}.${payload}`))};for(const each of signatures)if(await attempt(()=>isGood(each)))
return!0;return!1}async function verified(latest,keys){const jws=JSON.parse(latest),signers=[];for(const key of keys)await isSigner(
key,jws)&&signers.push(key);if(!signers[0])throw new ReaderError("latest.json: not signed by a trusted key");const found={
deltas:{},blocked:[],next_keys:[],...JSON.parse(textOf(decoded(jws.payload)))};if(![found.epoch,found.version,found.issued,
found.expires].every(Number.isSafeInteger))throw Error("numbers");return[found,[...byId([...found.next_keys,...signers],
"x").values()]]}function patched(index,difference){for(const kind of KINDS){const{set=[],removed=[]}=difference[`${kind}\
s`]??{},id=`${kind}_id`,records=byId(index[`${kind}s`],id);removed.forEach(each=>records.delete(each)),set.forEach(record=>records.
set(record[id],record)),index[`${kind}s`]=[...records.values()].sort((a,b)=>a[id]-b[id])}return JSON.stringify(index)}function indexedDbStore(name){
const run=(mode,act)=>new Promise((resolve,reject)=>{const opening=indexedDB.open(`logoadmin ${name}`);opening.onupgradeneeded=
()=>opening.result.createObjectStore("files"),opening.onerror=reject,opening.onsuccess=()=>{const transaction=opening.result.
transaction("files",mode),request=act(transaction.objectStore("files"));transaction.oncomplete=()=>resolve(request.result),
transaction.onabort=reject,opening.result.close()}});return{get:key=>run("readonly",files=>files.get(key)),set:(key,value)=>run(
"readwrite",files=>files.put(value,key))}}async function open(url,{key,store}){const base=new URL(`${url}`.replace(/\/*$/,
"/"),globalThis.location?.href);store??=indexedDbStore(base);const given=[key].flat(),root=given.map(({x})=>x).join();let state={
root,keys:given},pointer,records=KINDS.map(()=>new Map),hidden=new Set,known=new Set,checking,changes=0;const listeners={
change:new Set,withdrawn:new Set},emit=(event,value)=>listeners[event].forEach(listener=>Promise.resolve(value).then(listener)),
use=(next,found,least=0)=>{const{epoch,version,issued,gallery}=pointer??found;if(gallery!==found.gallery)throw new ReaderError(
"latest.json: of another gallery");if(pointer&&(found.epoch-epoch||found.version-version||found.issued-issued)<least)return!1;
const isNew=next.index!==state.index,index=isNew&&JSON.parse(next.index),parsed=isNew?KINDS.map(kind=>byId(index[`${kind}\
s`],`${kind}_id`)):records,entries=[...found.blocked,...next.withdrawn?JSON.parse(next.withdrawn).withdrawn:[]],news=new Map(
entries.map(entry=>[`${entry.kind} ${entry.id} ${entry.at} ${entry.severity}`,entry])),before=known;return[state,pointer,
records,known]=[next,found,parsed,new Set(news.keys())],hidden=new Set(entries.map(({kind,id})=>`${kind} ${id}`)),before.
forEach(name=>news.delete(name)),news.size&&emit("withdrawn",[...news.values()]),isNew&&emit("change",found.version),changes+=
news.size||isNew,!0},put=async(name,text)=>store.set(name,bytesOf(await hashOf(text)+text)),take=async name=>{const text=textOf(
await store.get(name));if(await hashOf(text.slice(64))!==text.slice(0,64))throw Error(name);return text.slice(64)},load=()=>attempt(
async()=>{const next=JSON.parse(await take("state"));next.latest!==state.latest&&(next.place&&(next.index=await take(next.
place)),next.root!==root&&Object.assign(next,{root,keys:given}),use(next,(await verified(next.latest,next.keys))[0],1))}),
save=async()=>{state.checked=Date.now(),await load(),await attempt(async()=>{const{index,...rest}=state,hash=index&&await hashOf(
index);hash!==rest.hash&&(Object.assign(rest,{hash,place:rest.place==="index"?"other":"index"}),await put(rest.place,index)),
await put("state",JSON.stringify(rest)),Object.assign(state,rest)})},download=async(path,most,headers)=>{const stop=new AbortController;
let timer;const late=new Promise((_,reject)=>{timer=setTimeout(reject,2e4+(most>>3),Error("too slow"))}),read=async()=>{
const cache=headers?"no-cache":"no-store",response=await fetch(new URL(path,base),{cache,credentials:"omit",headers,signal:stop.
signal});if(response.status===304)return[];if(!response.ok)throw Error(`HTTP ${response.status}`);const reader=response.
body.getReader(),chunks=[];let size=0;for(let part;!(part=await reader.read()).done;chunks.push(part.value))if(!((size+=
part.value.length)<=most))throw Error("too large");return[new Uint8Array(await new Blob(chunks).arrayBuffer()),response.
headers.get("etag")]};try{return await Promise.race([late,read()])}catch({message}){throw new ReaderError(`${path}: ${message}`)}finally{
clearTimeout(timer),stop.abort()}},checked=async(path,most,hash)=>{const[bytes]=await download(path,most);if(await sha256(
bytes)!==hash)throw new ReaderError(`${path}: wrong content`);return bytes},file=async({path,size,sha256:hash},held="")=>{
if(await hashOf(held)===hash)return held;if(!PATH.test(path))throw new ReaderError("latest.json: unexpected path");const bytes=await checked(
path,size,hash);if(bytes.length!==size)throw new ReaderError(`${path}: wrong size`);return textOf(bytes)},readIndex=async({
deltas,index},held="")=>{const hash=await hashOf(held),delta=Object.values(deltas).find(({from_sha256})=>from_sha256===hash),
result=delta&&await attempt(async()=>patched(JSON.parse(held),JSON.parse(await file(delta))));return file(index,result&&
await hashOf(result)===index.sha256?result:held)},run=async()=>{const before=changes;await load();const isConditional=state.
etag&&!isOver(pointer.expires)&&!globalThis.indexedDB,[bytes,etag]=await download("latest.json",8192,isConditional?{"If-\
None-Match":state.etag}:{}),latest=bytes?textOf(bytes):state.latest;if(latest!==state.latest){const[found,keys]=await verified(
latest,state.keys);if(!isOver(found.issued-86400))throw new ReaderError("latest.json: issued in the future");use({...state,
latest,keys,etag},found)&&await save()}if(isOver(pointer.expires))throw new ReaderError("latest.json: expired");const withdrawn=await file(
pointer.withdrawn,state.withdrawn),index=await readIndex(pointer,state.index);return(withdrawn!==state.withdrawn||index!==
state.index)&&(use({...state,withdrawn,index},pointer),await save()),changes>before},raise=cause=>{throw cause instanceof
ReaderError?cause:new ReaderError("latest.json: malformed",{cause})},check=()=>checking??=run().catch(raise).finally(()=>checking=
void 0),get=(kind,id)=>{const record=!hidden.has(`${kind} ${id}`)&&records[KINDS.indexOf(kind)]?.get(id);if(record)return kind===
"author"?{...record}:{custom_css:"",...record,authors:(record.author_ids??[]).map(author=>get("author",author))}},list=(kind,{
target}={})=>[...records[KINDS.indexOf(kind)].keys()].map(id=>get(kind,id)).filter(record=>record&&(target??record.target)===
record.target),sheet=async name=>{const held=await attempt(()=>store.get(name));if(await attempt(()=>sha256(held))===name.
slice(0,64))return textOf(held);const bytes=await checked(`css/${name}`,2**23,name.slice(0,64));return await attempt(()=>store.
set(name,bytes)),textOf(bytes)},inlined=async(css,budget,hashes)=>{let result="",end=0;for(const{0:path,index}of css.matchAll(
PINNED)){if(hashes&&!hashes.includes(path.slice(-68,-4)))continue;const imported=bytesOf(await inlined(await sheet(path.
slice(-68)),budget));if((budget.left-=imported.length+1024)<0)throw new ReaderError("too many imports");result+=`${css.slice(
end,index)}data:text/css;charset=utf-8;base64,${base64(imported)}`,end=index+path.length}return result+css.slice(end)};return await load(),
state.index===void 0?await check():Math.abs(Date.now()-state.checked)<3e5||check().catch(()=>{}),{logos:filter=>list("lo\
go",filter),themes:filter=>list("theme",filter),get,css:async(kind,id)=>{const record=get(kind,id);return record&&inlined(
record.custom_css,{left:2**24},record.css?.imports?.map(each=>each.sha256)??[])},on:(event,listener)=>(listeners[event].
add(listener),()=>listeners[event].delete(listener)),check,get latest(){return pointer}}}export{open};
