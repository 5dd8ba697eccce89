-- Each request creates an author whom nobody created before; the first argument says where to begin.
local number

function init(arguments)
  number = tonumber(arguments[1])
end

function request()
  number = number + 1
  local body = string.format('{"user_id": %d, "username": "author %d"}', number, number)
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"}, body)
end
