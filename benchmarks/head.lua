-- HEAD of the path with the entity tag of the first argument: wrk waits for the body of any other response to it.
local head

function init(arguments)
  wrk.init(arguments)
  head = wrk.format("HEAD", nil, {["If-None-Match"] = arguments[1]})
end

function request()
  return head
end
