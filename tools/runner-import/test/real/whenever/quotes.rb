every 1.day, at: '11:00 pm' do
  runner "User.where(\"age > ?\", 3).each { |u| u.mail('x') }"
  runner 'puts "hello"'
  command %q{echo it's}
  command "date +%F >> log/date.log"
  command 'find tmp -name "*.zip" -mtime +1 -delete'
end
